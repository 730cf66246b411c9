#include "core/base/ids.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

#include "core/base/prefix.hpp"

namespace morula {
namespace {

RC_GTEST_PROP(Ulid, TextIsReadBackAndSortsAsTheUlid, (uint64_t a, uint64_t b, uint64_t c)) {
  const Ulid one{a, b};
  const Ulid other{*rc::gen::element(a, c), c};
  RC_ASSERT(Ulid::parse(one.text()) == one);
  RC_ASSERT((one < other) == (one.text() < other.text()));
}

RC_GTEST_PROP(Ulid, OneUlidHasOneText, (uint64_t a, uint64_t b, uint8_t place, char byte)) {
  std::string text = Ulid{a, b}.text();
  text[place % text.size()] = byte;
  const auto read = Ulid::parse(text);
  if (read) RC_ASSERT(read->text() == text);
}

TEST(Ulid, TextIsCrockfordsBase32) {
  EXPECT_EQ((Ulid{0, 0}.text()), "00000000000000000000000000");
  EXPECT_EQ((Ulid{~uint64_t{0}, ~uint64_t{0}}.text()), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  EXPECT_EQ((Ulid{1, 32}.text()), "0000000000000G000000000010");
  for (const char* wrong : {"", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "0000000000000000000000000",
                            "000000000000000000000000000", "0000000000000000000000000I",
                            "0000000000000000000000000a", "0000000000000000000000000 "}) {
    EXPECT_FALSE(Ulid::parse(wrong)) << wrong;
  }
}

struct Numbers {
  uint64_t next() { return state = state * 6364136223846793005 + 1; }
  uint64_t state = 7;
};

TEST(Ulid, DrawnLaterSortsLater) {
  Numbers random;
  Ulid last;
  for (int64_t ms = 1; ms < 1000; ++ms) {
    const Ulid ulid = Ulid::draw(WallTime{1'700'000'000'000 + ms}, random);
    EXPECT_GT(ulid, last);
    EXPECT_EQ(ulid.high >> 16, 1'700'000'000'000u + static_cast<uint64_t>(ms));
    last = ulid;
  }
}

RC_GTEST_PROP(IncarnationId, TextIsReadBack, (uint64_t a, uint64_t b)) {
  const auto name =
      *rc::gen::suchThat(rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab-09"))),
                         is_valid_instance_name);
  const IncarnationId incarnation{name, {a, b}};
  RC_ASSERT(IncarnationId::parse(incarnation.text()) == incarnation);
}

TEST(IncarnationId, RefusesWhatIsNone) {
  const std::string ulid = Ulid{1, 2}.text();
  EXPECT_TRUE(IncarnationId::parse("a-" + ulid));
  for (const std::string& wrong :
       {ulid, "-" + ulid, "A-" + ulid, "a_" + ulid, "a" + ulid, "a/b-" + ulid,
        std::string(64, 'a') + "-" + ulid, "a-" + ulid + "/", std::string("a-1"), std::string()}) {
    EXPECT_EQ(IncarnationId::parse(wrong).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

HashSecret secret_of(uint8_t first) {
  HashSecret secret{};
  for (size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<uint8_t>(first + i);
  return secret;
}

TEST(StreamId, TextIsItsHexDigits) {
  EXPECT_EQ((StreamId{0x0123456789abcdef, 0xf}.text()), "0123456789abcdef000000000000000f");
}

TEST(StreamHasher, HashesAreTheSameOnEveryMachineForGood) {
  const StreamHash hash = StreamHasher(secret_of(1))("tenant", "a/path");
  EXPECT_EQ(hash.id, (StreamId{0xe88fb68db242978f, 0x294dcc135f59842}));
  EXPECT_EQ(hash.check, 11962404593821025532u);
}

TEST(StreamHasher, TellsTenantFromPath) {
  const StreamHasher hash(secret_of(1));
  EXPECT_NE(hash("ab", "c").id, hash("a", "bc").id);
  EXPECT_NE(hash("", "abc").id, hash("abc", "").id);
}

RC_GTEST_PROP(StreamHasher, DependsOnEveryBitOfTheSecret, (const std::string& path)) {
  const HashSecret secret = secret_of(*rc::gen::arbitrary<uint8_t>());
  HashSecret other = secret;
  const size_t bit = *rc::gen::inRange<size_t>(0, secret.size() * 8);
  other[bit / 8] = static_cast<uint8_t>(other[bit / 8] ^ (1 << bit % 8));
  const StreamHash a = StreamHasher(secret)("tenant", path);
  const StreamHash b = StreamHasher(other)("tenant", path);
  RC_ASSERT(a.id != b.id);
  RC_ASSERT(a.check != b.check);
  RC_ASSERT(a.check != a.id.low);
}

TEST(StreamHasher, SpreadsStreamsEvenlyOverThePrefixes) {
  const StreamHasher hash(secret_of(9));
  std::array<int, 16> count{};
  for (int i = 0; i < 16'000; ++i) ++count[hash("tenant", std::to_string(i)).id.high >> 60];
  for (const int n : count) {
    EXPECT_GT(n, 800);
    EXPECT_LT(n, 1200);
  }
}

Prefix any_prefix() {
  const auto length = *rc::gen::inRange<uint8_t>(0, Prefix::kMaxLength + 1);
  return {static_cast<uint16_t>(*rc::gen::inRange(0, 1 << length)), length};
}

RC_GTEST_PROP(Prefix, TextIsReadBack, ()) {
  const Prefix prefix = any_prefix();
  RC_ASSERT(Prefix::parse(prefix.text()) == prefix);
}

RC_GTEST_PROP(Prefix, ContainsTheIdsThatStartWithItsText, (uint64_t high, uint64_t low)) {
  const Prefix prefix = any_prefix();
  std::string bits;
  for (int bit = 63; bit >= 0; --bit) bits.push_back((high >> bit & 1) != 0 ? '1' : '0');
  const bool starts = prefix.length == 0 || bits.starts_with(prefix.text());
  RC_ASSERT(prefix.contains(StreamId{high, low}) == starts);
  // Most prefixes contain no given id; this one does.
  const Prefix own{static_cast<uint16_t>(prefix.length == 0 ? 0 : high >> (64 - prefix.length)),
                   prefix.length};
  RC_ASSERT(own.contains(StreamId{high, low}));
}

TEST(Prefix, RefusesWhatIsNone) {
  EXPECT_EQ(Prefix{}.text(), "root");
  for (const char* wrong : {"", "2", "01 ", "Root", "root0", "0101010101010"}) {
    EXPECT_EQ(Prefix::parse(wrong).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

RC_GTEST_PROP(Prefix, ContainsAnotherWhenItContainsAllOfItsIds, ()) {
  const auto any = [] {
    Prefix prefix;
    prefix.length = *rc::gen::inRange<uint8_t>(0, 4);
    prefix.bits = *rc::gen::inRange<uint16_t>(0, 1u << prefix.length);
    return prefix;
  };
  const Prefix a = any();
  const Prefix b = any();
  RC_ASSERT(a.contains(a.first()));
  bool all = true;
  for (uint64_t top = 0; top < 16; ++top) {
    const StreamId id{top << 60, 0};
    if (id < a.first()) RC_ASSERT(!a.contains(id));
    if (b.contains(id)) all = all && a.contains(id);
  }
  RC_ASSERT(a.contains(b) == all);
}

}  // namespace
}  // namespace morula
