#include "core/shard/replay.hpp"

#include <algorithm>
#include <map>

#include "core/log/fence.hpp"

namespace morula {

namespace {

/// A closed entry of one shard's manifest.
struct Reader {
  Shard* shard;
  ManifestLog entry;
  LogSeq from;  // what lies before was replayed earlier
  LogSeq to;
};

LogSeq not_replayed(const Shard& shard, const ManifestLog& entry) {
  LogSeq from = entry.from;
  for (const ManifestLog& range : shard.replayed()) {
    if (range.clip == entry.clip && range.incarnation == entry.incarnation) {
      from = std::max(from, *range.to);
    }
  }
  return from;
}

Result<> apply_object(const LogObject& object, std::span<const Reader> readers) {
  for (const LogRecord& record : object.records) {
    for (const Reader& reader : readers) {
      if (object.seq < reader.from || object.seq >= reader.to) continue;
      if (!reader.entry.clip.contains(record.id) || !reader.shard->prefix().contains(record.id))
        continue;
      MORULA_TRY(reader.shard->replay(record));
    }
  }
  return {};
}

}  // namespace

Result<> replay_closed_ranges(const Env& env, const RetryConfig& retry, LogWriter& log,
                              std::span<const std::shared_ptr<Shard>> shards) {
  std::map<IncarnationId, std::vector<Reader>> by_log;
  for (const auto& shard : shards) {
    for (const ManifestLog& entry : shard->manifest().logs) {
      if (!entry.to) continue;
      const LogSeq from = not_replayed(*shard, entry);
      if (from < *entry.to) {
        by_log[entry.incarnation].push_back({shard.get(), entry, from, *entry.to});
      }
    }
  }
  for (auto& [incarnation, readers] : by_log) {
    std::sort(readers.begin(), readers.end(),
              [](const Reader& a, const Reader& b) { return a.from < b.from; });
    for (size_t next = 0; next < readers.size();) {
      // What lies between two ranges may have been trimmed: only ranges that touch become one.
      const LogSeq from = readers[next].from;
      LogSeq to = readers[next].to;
      for (++next; next < readers.size() && readers[next].from <= to; ++next) {
        to = std::max(to, readers[next].to);
      }
      MORULA_TRY(replay_log(env, log.incarnation(), incarnation, from, to, retry,
                            [&](const LogObject& object) -> Result<> {
                              log.raise_wall_floor(object.wall_floor);
                              return apply_object(object, readers);
                            }));
    }
    for (const Reader& reader : readers) reader.shard->note_replayed(reader.entry);
  }
  return {};
}

}  // namespace morula
