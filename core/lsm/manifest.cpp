#include "core/lsm/manifest.hpp"

#include <algorithm>

#include "core/base/json.hpp"

namespace morula {
namespace {

constexpr uint64_t kFormat = 1;
constexpr std::string_view kKind = "manifest";
constexpr std::string_view kOpen = "open";  // `to` of a log entry without an end

Json table_json(const ManifestTable& table) {
  return Json::Object{{"key", table.key},
                      {"tree", std::string(to_string(table.tree))},
                      {"clip", table.clip.text()},
                      {"bytes", table.bytes}};
}

Json log_json(const ManifestLog& log) {
  return Json::Object{{"clip", log.clip.text()},
                      {"incarnation", log.incarnation.text()},
                      {"from", log.from.value},
                      {"to", log.to ? Json(log.to->value) : Json(std::string(kOpen))}};
}

/// One object of the document: takes its members one by one and keeps the first thing wrong, with
/// the path of the member ("tables[2].clip").
class Reader {
 public:
  Reader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (object.as_object() == nullptr) wrong("", "must be an object");
  }

  std::string string(std::string_view name) {
    const Json* member = take(name);
    const std::string* text = member == nullptr ? nullptr : member->as_string();
    if (text == nullptr) return wrong(name, "must be a string"), std::string();
    return *text;
  }
  uint64_t number(std::string_view name, uint64_t max = UINT64_MAX) {
    const Json* member = take(name);
    const uint64_t* value = member == nullptr ? nullptr : member->as_u64();
    if (value == nullptr || *value > max) {
      return wrong(name, "must be a whole number of 0 to " + std::to_string(max)), 0;
    }
    return *value;
  }
  bool boolean(std::string_view name) {
    const Json* member = take(name);
    const bool* value = member == nullptr ? nullptr : member->as_bool();
    if (value == nullptr) return wrong(name, "must be true or false"), false;
    return *value;
  }
  Json::Array array(std::string_view name) {
    const Json* member = take(name);
    const Json::Array* items = member == nullptr ? nullptr : member->as_array();
    if (items == nullptr) return wrong(name, "must be an array"), Json::Array();
    return *items;
  }
  /// A string member that `parse` understands.
  template <class Parse>
  auto parsed(std::string_view name, Parse parse) {
    const std::string text = string(name);
    auto value = parse(text);
    using Value = typename decltype(value)::value_type;
    if (!value) return wrong(name, value.error().message), Value();
    return *std::move(value);
  }
  const Json* take(std::string_view name) {
    ++taken_;
    return object_.find(name);
  }
  void wrong(std::string_view name, std::string_view what) {
    if (!error_.empty()) return;
    error_ = "manifest: " + path_;
    if (!path_.empty() && !name.empty()) error_ += '.';
    error_ += name;
    error_ += ' ';
    error_ += what;
  }
  /// Every member was taken, and each was right.
  Result<> finish() {
    const Json::Object* object = object_.as_object();
    if (object != nullptr && object->size() > taken_) {
      wrong("", "has members that its format does not know");
    }
    if (!error_.empty()) return fail(ErrorCode::kCorrupt, error_);
    return {};
  }

 private:
  const Json& object_;
  std::string path_;
  std::string error_;
  size_t taken_ = 0;
};

Result<Tree> parse_tree(std::string_view text) {
  for (const Tree tree : {Tree::kMeta, Tree::kData}) {
    if (text == to_string(tree)) return tree;
  }
  return fail(ErrorCode::kCorrupt, "must be \"meta\" or \"data\"");
}

Result<ManifestTable> read_table(const Json& json, const std::string& path) {
  Reader in(json, path);
  ManifestTable table;
  table.key = in.string("key");
  if (table.key.empty()) in.wrong("key", "must not be empty");
  table.tree = in.parsed("tree", parse_tree);
  table.clip = in.parsed("clip", Prefix::parse);
  table.bytes = in.number("bytes");
  if (table.bytes == 0) in.wrong("bytes", "must not be 0");
  MORULA_TRY(in.finish());
  return table;
}

Result<ManifestLog> read_log(const Json& json, const std::string& path) {
  Reader in(json, path);
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

std::vector<IncarnationId> Manifest::log_incarnations() const {
  std::vector<IncarnationId> result;
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
  return Json(Json::Object{{"kind", std::string(kKind)},
                           {"format", kFormat},
                           {"version", manifest.version.value},
                           {"sealed", manifest.sealed},
                           {"tables", std::move(tables)},
                           {"logs", std::move(logs)},
                           {"mark", manifest.mark.value},
                           {"wall_floor_ms", floor_ms},
                           {"writer", manifest.writer.text()},
                           {"nonce", manifest.nonce.text()}})
      .pretty();
}

Result<Manifest> decode_manifest(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  if (!json) return fail(ErrorCode::kCorrupt, "manifest: " + json.error().message);
  Reader in(*json, "");
  if (in.string("kind") != kKind) in.wrong("kind", "must be \"manifest\"");
  const uint64_t format = in.number("format");
  if (format != kFormat) {
    in.wrong("format", "is " + std::to_string(format) + ", this program reads " +
                           std::to_string(kFormat) + " only: run the version that wrote it");
    return fail(in.finish().error());
  }
  Manifest manifest;
  manifest.version = Version(in.number("version"));
  manifest.sealed = in.boolean("sealed");
  manifest.mark = Generation(in.number("mark"));
  manifest.wall_floor.ms = static_cast<int64_t>(in.number("wall_floor_ms", INT64_MAX));
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
