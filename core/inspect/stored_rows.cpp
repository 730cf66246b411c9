#include "core/inspect/stored_rows.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/inspect/log_extent.hpp"
#include "core/log/log_object.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/shard/record.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

constexpr size_t kReadsAtOnce = 16;

Error missing(const std::string& key) {
  return {ErrorCode::kCorrupt, key + " is missing: changes that were acknowledged lie in it"};
}

}  // namespace

Result<std::unique_ptr<StoredRows>> StoredRows::open(const Env& env, const RetryConfig& retry,
                                                     BlockCache& cache, const StoredCell& view,
                                                     StreamId id) {
  const auto shard =
      std::find_if(view.shards.begin(), view.shards.end(),
                   [&](const ShardView& candidate) { return candidate.row.prefix.contains(id); });
  MORULA_CHECK(shard != view.shards.end(), "a topology partitions the space");
  if (!shard->manifest) {
    return fail(ErrorCode::kCorrupt,
                shard->row.manifest + ": " + shard->damage.value_or("it is missing"));
  }
  std::unique_ptr<StoredRows> rows(new StoredRows(env, retry, id));
  rows->wall_floor_ = shard->manifest->wall_floor;
  for (const ManifestLog& log : shard->manifest->logs) {
    if (log.clip.contains(id)) MORULA_TRY(rows->replay(log, view.window()));
  }
  MORULA_TRY(rows->open_tables(cache, *shard->manifest));
  return rows;
}

Result<> StoredRows::open_tables(BlockCache& cache, const Manifest& manifest) {
  for (const ManifestTable& entry : manifest.tables) {
    if (!entry.clip.contains(id_)) continue;
    auto table = Table::open(env_, cache, entry.key, entry.bytes, entry.tree);
    MORULA_TRY(table);
    sources_[static_cast<size_t>(entry.tree)].tables.push_back(
        {std::move(*table), entry.clip, entry.streams});
  }
  for (TreeSources& sources : sources_) sources.memtables.emplace_back(replayed_);
  const auto reader = [&](Tree tree) {
    return std::make_shared<const TreeReader>(tree, std::move(sources_[static_cast<size_t>(tree)]));
  };
  meta_ = reader(Tree::kMeta);
  data_ = reader(Tree::kData);
  index_ = reader(Tree::kIndex);
  return {};
}

Result<> StoredRows::replay(const ManifestLog& log, uint64_t window) {
  LogSeq end = log.to.value_or(LogSeq(0));
  if (!log.to) {
    const auto found = end_of_open_log(log, window);
    MORULA_TRY(found);
    end = *found;
  }
  // In any order: where two hold a row, its change number decides.
  return for_each_concurrently(end - log.from, kReadsAtOnce,
                               [&](size_t i) { return replay_object(log, log.from + i); });
}

Result<LogSeq> StoredRows::end_of_open_log(const ManifestLog& log, uint64_t window) const {
  const std::string folder = keys::log_folder(log.incarnation);
  const std::string after =
      log.from > LogSeq(0) ? keys::log_object(log.incarnation, log.from - 1) : "";
  const auto objects = list_objects(env_, folder, after, Purpose::kMetaRead, retry_);
  MORULA_TRY(objects);
  std::vector<ListedLogObject> listed;
  for (const ObjectInfo& object : *objects) {
    const auto seq = keys::log_seq(object.key);
    if (seq) listed.push_back({*seq, object.size == kLogFenceBytes});
  }
  // A hole that should not be there is told by whoever reads it.
  return log_extent(listed, log.from, window).end;
}

Result<> StoredRows::replay_object(const ManifestLog& log, LogSeq seq) {
  const std::string key = keys::log_object(log.incarnation, seq);
  Blob last;
  for (;;) {
    const auto found = get_object(env_, key, Purpose::kDataRead, retry_);
    MORULA_TRY(found);
    if (!*found) return fail(missing(key));
    const Blob bytes = (*found)->body;
    const auto object = decode_log_object(*bytes);
    if (!object && last && *last == *bytes) {
      return fail(ErrorCode::kCorrupt, key + ": " + object.error().message);
    }
    last = bytes;
    if (!object) continue;  // damaged on the way, perhaps
    if (object->is_fence) return fail(ErrorCode::kCorrupt, key + ": a fence where a batch is due");
    wall_floor_ = std::max(wall_floor_, object->wall_floor);
    for (const LogRecord& record : object->records) {
      if (record.id != id_) continue;
      const auto rows = decode_record(record.id, record.payload);
      if (!rows) return fail(ErrorCode::kCorrupt, key + ": " + rows.error().message);
      for (const Row& row : *rows) replayed_->put(row);
    }
    return {};
  }
}

LogSeq StoredRows::apply(StreamId, const ChangedRows&) {
  MORULA_CHECK(false, "rows in the bucket are only looked at");
}

Generation StoredRows::next_generation(StreamId, std::optional<Generation>) const {
  MORULA_CHECK(false, "rows in the bucket are only looked at");
}

WallTime StoredRows::wall() const {
  return std::max(env_.clock.wall(), wall_floor_);
}

}  // namespace morula
