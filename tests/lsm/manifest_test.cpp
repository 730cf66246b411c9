#include "core/lsm/manifest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/document.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

IncarnationId incarnation(const std::string& name, uint64_t n) {
  return {name, Ulid{n, n + 1}};
}

rc::Gen<Prefix> prefixes() {
  return rc::gen::map(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("01"))), [](std::string bits) {
        return *Prefix::parse(bits.empty() ? "root" : bits.substr(0, Prefix::kMaxLength));
      });
}

rc::Gen<ManifestTable> tables() {
  return rc::gen::apply(
      [](uint64_t number, bool data, Prefix clip, uint64_t bytes) {
        if (bytes % 3 == 0) {
          const std::string first = row_key::listing_begin("t", "a/" + std::to_string(number));
          return ManifestTable{"sst/i", Tree::kIndex, clip, bytes | 1, 0, {first, first + "b"}};
        }
        return ManifestTable{"sst/x/" + std::to_string(number) + ".sst",
                             data ? Tree::kData : Tree::kMeta,
                             clip,
                             bytes | 1,
                             static_cast<uint32_t>(bytes % 31),
                             {StreamId{number / 2, bytes}, StreamId{number, ~uint64_t{0}}}};
      },
      rc::gen::arbitrary<uint64_t>(), rc::gen::arbitrary<bool>(), prefixes(),
      rc::gen::arbitrary<uint64_t>());
}

rc::Gen<ManifestLog> logs() {
  return rc::gen::apply(
      [](Prefix clip, uint64_t n, uint64_t a, uint64_t b, bool open) {
        ManifestLog log{clip, incarnation("i", n), LogSeq(std::min(a, b)), std::nullopt};
        if (!open) log.to = LogSeq(std::max(a, b));
        return log;
      },
      prefixes(), rc::gen::inRange<uint64_t>(0, 4), rc::gen::arbitrary<uint64_t>(),
      rc::gen::arbitrary<uint64_t>(), rc::gen::arbitrary<bool>());
}

Manifest example() {
  Manifest manifest;
  manifest.version = Version(7);
  manifest.tables = {{"sst/a/1.sst", Tree::kMeta, {}, 4711, 0, {}},
                     {"sst/a/2.sst", Tree::kData, *Prefix::parse("01"), 815, 2, {}}};
  manifest.logs = {{{}, incarnation("a", 1), LogSeq(3), LogSeq(9)},
                   {{}, incarnation("b", 2), LogSeq(0), std::nullopt}};
  manifest.mark = Generation(12);
  manifest.wall_floor = WallTime{1'800'000'000'000};
  manifest.writer = incarnation("b", 2);
  manifest.nonce = Ulid{5, 6};
  return manifest;
}

RC_GTEST_PROP(Manifest, IsReadBack, (uint64_t version, bool sealed, uint64_t mark)) {
  Manifest manifest;
  manifest.version = Version(version);
  manifest.sealed = sealed;
  manifest.mark = Generation(mark);
  manifest.wall_floor.ms = *rc::gen::inRange<int64_t>(0, INT64_MAX);
  manifest.writer = incarnation("writer", *rc::gen::inRange<uint64_t>(0, 1000));
  manifest.nonce = Ulid{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
  manifest.tables = *rc::gen::container<std::vector<ManifestTable>>(tables());
  manifest.logs = *rc::gen::container<std::vector<ManifestLog>>(logs());
  const auto read = decode_manifest(encode_manifest(manifest));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == manifest);
}

TEST(Manifest, NamesEachIncarnationOfItsLogsOnce) {
  Manifest manifest;
  for (const uint64_t n : {3, 1, 3, 2, 1}) {
    manifest.logs.push_back({{}, incarnation("i", n), LogSeq(n), std::nullopt});
  }
  EXPECT_EQ(manifest.log_incarnations(),
            (std::vector{incarnation("i", 1), incarnation("i", 2), incarnation("i", 3)}));
}

constexpr DocumentFormat kFormat{"morula-manifest", 3};

TEST(Manifest, AnotherFormatIsRefusedByNumber) {
  auto members = *open_document(kFormat, encode_manifest(example()))->as_object();
  const auto read = decode_manifest(encode_document({kFormat.kind, 2}, members));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(read.error().message.starts_with("format is 2, ")) << read.error().message;
}

/// The document with one member of one of its objects changed or (nullopt) left out.
std::string with_member(std::string_view part, std::string_view name, std::optional<Json> value) {
  auto document = *open_document(kFormat, encode_manifest(example()))->as_object();
  Json::Object object = document;
  Json::Array items;
  if (!part.empty()) {
    items = *document.find(part)->second.as_array();
    object = *items[0].as_object();
  }
  object.erase(std::string(name));
  if (value) object.emplace(name, *std::move(value));
  if (part.empty()) return encode_document(kFormat, object);
  items[0] = object;
  document.insert_or_assign(std::string(part), items);
  return encode_document(kFormat, document);
}

struct WrongMember {
  const char* part;
  const char* name;
  Json value;
};

TEST(Manifest, EveryWrongMemberIsNamed) {
  const uint64_t number = 3;
  const std::vector<WrongMember> wrong = {
      {"", "version", "1"},
      {"", "version", Json(int64_t{-1})},
      {"", "sealed", number},
      {"", "tables", Json::Object()},
      {"", "logs", "none"},
      {"", "mark", true},
      {"", "wall_floor_ms", uint64_t{1} << 63},
      {"", "writer", "nobody"},
      {"", "nonce", "x"},
      {"tables", "key", ""},
      {"tables", "tree", "other"},
      {"tables", "clip", "012"},
      {"tables", "bytes", uint64_t{0}},
      {"tables", "level", uint64_t{31}},
      {"tables", "first", "0g"},
      {"tables", "last", number},
      {"logs", "clip", ""},
      {"logs", "incarnation", number},
      {"logs", "from", "0"},
      {"logs", "to", uint64_t{2}},
      {"logs", "to", "closed"},
      {"logs", "to", Json()},
  };
  for (const WrongMember& member : wrong) {
    const std::string part = member.part;
    const std::string path = (part.empty() ? "" : part + "[0].") + member.name;
    for (const bool absent : {false, true}) {
      const auto read = decode_manifest(
          with_member(part, member.name, absent ? std::nullopt : std::optional(member.value)));
      ASSERT_FALSE(read) << path;
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
      EXPECT_TRUE(read.error().message.starts_with(path + " ")) << read.error().message;
    }
  }
}

TEST(Manifest, AMemberThatItsFormatDoesNotKnowIsRefused) {
  for (const char* part : {"", "tables", "logs"}) {
    const auto read = decode_manifest(with_member(part, "extra", Json(true)));
    ASSERT_FALSE(read) << part;
    EXPECT_NE(read.error().message.find("members that its format does not know"),
              std::string::npos);
  }
}

TEST(Manifest, DamageIsRefusedOrHarmless) {
  expect_damage_is_refused_or_harmless({"morula-manifest", 3}, encode_manifest(example()),
                                       encode_manifest, decode_manifest);
}

TEST(Manifest, AFlippedByteIsFound) {
  const std::string text = encode_manifest(example());
  for (size_t place = 0; place < text.size(); ++place) {
    for (const int bit : {0, 3, 6}) {
      std::string damaged = text;
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << bit));
      const auto read = decode_manifest(damaged);
      // White space between the members carries nothing.
      EXPECT_TRUE(!read || *read == example()) << place;
    }
  }
}

}  // namespace
}  // namespace morula
