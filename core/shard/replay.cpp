#include "core/shard/replay.hpp"

#include <algorithm>
#include <map>

#include "core/log/fence.hpp"

namespace morula {

namespace {

/// A closed entry of one shard's manifest.
struct Reader {
  Shard* shard;
  Prefix clip;
  LogSeq from;
  LogSeq to;
};

Result<> apply_object(const LogObject& object, std::span<const Reader> readers) {
  for (const LogRecord& record : object.records) {
    for (const Reader& reader : readers) {
      if (object.seq < reader.from || object.seq >= reader.to) continue;
      if (!reader.clip.contains(record.id) || !reader.shard->prefix().contains(record.id)) continue;
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
      by_log[entry.incarnation].push_back({shard.get(), entry.clip, entry.from, *entry.to});
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
  }
  return {};
}

}  // namespace morula
