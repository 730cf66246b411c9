#include "core/lsm/manifest.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/document.hpp"

namespace morula {
namespace {

constexpr DocumentFormat kFormat{"morula-manifest", 3};
constexpr uint64_t kLevelMax = 30;
constexpr std::string_view kOpen = "open";  // `to` of a log entry without an end

/// Places are bytes: a StreamId looks as its text does.
std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Result<std::string> parse_hex(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  if (text.empty() || 2 * bytes.size() != text.size()) {
    return fail(ErrorCode::kCorrupt, "must be bytes in lower-case hex digits");
  }
  return bytes;
}

KeyRange cut(const KeyRange& range, const KeyRange& to) {
  return {std::max(range.first, to.first), std::min(range.last, to.last)};
}

/// Of the hash space, in streams whose first 64 bits differ.
uint64_t width(const KeyRange& streams) {
  return row_key::stream_id(streams.last).high - row_key::stream_id(streams.first).high;
}

Json table_json(const ManifestTable& table) {
  MORULA_CHECK(table.level <= kLevelMax, "what is written can be read");
  return Json::Object{{"key", table.key},
                      {"tree", std::string(to_string(table.tree))},
                      {"clip", table.clip.text()},
                      {"bytes", table.bytes},
                      {"level", uint64_t{table.level}},
                      {"first", hex(table.streams.first)},
                      {"last", hex(table.streams.last)}};
}

Json log_json(const ManifestLog& log) {
  return Json::Object{{"clip", log.clip.text()},
                      {"incarnation", log.incarnation.text()},
                      {"from", log.from.value},
                      {"to", log.to ? Json(log.to->value) : Json(std::string(kOpen))}};
}

Result<Tree> parse_tree(std::string_view text) {
  for (const Tree tree : kTrees) {
    if (text == to_string(tree)) return tree;
  }
  return fail(ErrorCode::kCorrupt, "must be \"meta\", \"data\" or \"index\"");
}

Result<ManifestTable> read_table(const Json& json, const std::string& path) {
  MemberReader in(json, path);
  ManifestTable table;
  table.key = in.string("key");
  if (table.key.empty()) in.wrong("key", "must not be empty");
  table.tree = in.parsed("tree", parse_tree);
  table.clip = in.parsed("clip", Prefix::parse);
  table.bytes = in.number("bytes", 1);
  table.level = static_cast<uint32_t>(in.number("level", 0, kLevelMax));
  table.streams.first = in.parsed("first", parse_hex);
  table.streams.last = in.parsed("last", parse_hex);
  for (const auto& [name, place] :
       {std::pair("first", &table.streams.first), std::pair("last", &table.streams.last)}) {
    const bool is_id = place->size() == row_key::kStreamBytes;
    if (table.tree != Tree::kIndex && !is_id) in.wrong(name, "must be a stream's id");
  }
  if (table.streams.last < table.streams.first) in.wrong("last", "must not be below `first`");
  MORULA_TRY(in.finish());
  return table;
}

Result<ManifestLog> read_log(const Json& json, const std::string& path) {
  MemberReader in(json, path);
  ManifestLog log;
  log.clip = in.parsed("clip", Prefix::parse);
  log.incarnation = in.parsed("incarnation", IncarnationId::parse);
  log.from = LogSeq(in.number("from"));
  const Json* to = in.take("to");
  if (to != nullptr && to->as_u64() != nullptr) {
    log.to = LogSeq(*to->as_u64());
    if (*log.to < log.from) in.wrong("to", "must not be below `from`");
  } else if (to == nullptr || to->as_string() == nullptr || *to->as_string() != kOpen) {
    in.wrong("to", "must be a whole number or \"open\"");
  }
  MORULA_TRY(in.finish());
  return log;
}

template <class Item, class Read>
Result<std::vector<Item>> read_items(const Json::Array& items, const std::string& name, Read read) {
  std::vector<Item> result;
  result.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    Result<Item> item = read(items[i], name + "[" + std::to_string(i) + "]");
    if (!item) return fail(std::move(item).error());
    result.push_back(*std::move(item));
  }
  return result;
}

}  // namespace

KeyRange ManifestTable::counted() const {
  return tree == Tree::kIndex ? streams : cut(streams, KeyRange(clip.first(), clip.last()));
}

uint64_t ManifestTable::counted_bytes() const {
  const KeyRange part = counted();
  if (part == streams) return bytes;
  constexpr int kShareBits = 16;
  const uint64_t share = width(part) / ((width(streams) >> kShareBits) + 1);
  return std::max<uint64_t>(bytes * share >> kShareBits, 1);
}

std::vector<IncarnationId> Manifest::log_incarnations() const {
  std::vector<IncarnationId> result;
  result.reserve(logs.size());
  for (const ManifestLog& log : logs) result.push_back(log.incarnation);
  std::ranges::sort(result);
  const auto repeats = std::ranges::unique(result);
  result.erase(repeats.begin(), repeats.end());
  return result;
}

std::string encode_manifest(const Manifest& manifest) {
  Json::Array tables;
  for (const ManifestTable& table : manifest.tables) tables.push_back(table_json(table));
  Json::Array logs;
  for (const ManifestLog& log : manifest.logs) logs.push_back(log_json(log));
  // A floor before 1970 says no more than one of 1970.
  const auto floor_ms = static_cast<uint64_t>(std::max<int64_t>(0, manifest.wall_floor.ms));
  return encode_document(kFormat, {{"version", manifest.version.value},
                                   {"sealed", manifest.sealed},
                                   {"tables", std::move(tables)},
                                   {"logs", std::move(logs)},
                                   {"mark", manifest.mark.value},
                                   {"wall_floor_ms", floor_ms},
                                   {"writer", manifest.writer.text()},
                                   {"nonce", manifest.nonce.text()}});
}

Result<Manifest> decode_manifest(std::string_view text) {
  const auto json = open_document(kFormat, text);
  MORULA_TRY(json);
  MemberReader in(*json);
  Manifest manifest;
  manifest.version = Version(in.number("version"));
  manifest.sealed = in.boolean("sealed");
  manifest.mark = Generation(in.number("mark"));
  manifest.wall_floor.ms = static_cast<int64_t>(in.number("wall_floor_ms", 0, INT64_MAX));
  manifest.writer = in.parsed("writer", IncarnationId::parse);
  manifest.nonce = in.parsed("nonce", Ulid::parse);
  const Json::Array table_items = in.array("tables");
  const Json::Array log_items = in.array("logs");
  MORULA_TRY(in.finish());
  auto tables = read_items<ManifestTable>(table_items, "tables", read_table);
  if (!tables) return fail(std::move(tables).error());
  manifest.tables = *std::move(tables);
  auto logs = read_items<ManifestLog>(log_items, "logs", read_log);
  if (!logs) return fail(std::move(logs).error());
  manifest.logs = *std::move(logs);
  return manifest;
}

}  // namespace morula
