#include "core/inspect/needs.hpp"

#include <algorithm>
#include <set>

namespace morula {

using Kind = keys::Parsed::Kind;

Needs::Needs(const StoredCell& view) {
  for (const ShardView& shard : view.shards) {
    manifests_.emplace(shard.row.manifest, shard.row.prefix);
    if (!shard.manifest) continue;
    for (const ManifestTable& table : shard.manifest->tables) {
      tables_.emplace(table.key, NeededTable{shard.row.prefix, table.tree, table.bytes});
    }
    for (const ManifestLog& log : shard.manifest->logs) {
      logs_.push_back({shard.row.prefix, log.incarnation, log.from, log.to});
    }
  }
}

bool Needs::names(std::string_view key, const keys::Parsed& parsed) const {
  switch (parsed.kind) {
    case Kind::kCellJson:
    case Kind::kTopologyJson:
    case Kind::kMember:
      return true;
    case Kind::kManifest:
      return manifests_.contains(key);
    case Kind::kTable:
      return tables_.contains(key);
    case Kind::kLogObject:
      return std::any_of(logs_.begin(), logs_.end(), [&](const NeededLog& log) {
        return log.incarnation == parsed.incarnation && log.covers(parsed.seq);
      });
  }
  return false;
}

std::string Needs::shards_of(std::string_view key, const keys::Parsed& parsed) const {
  std::set<std::string> shards;
  if (const auto found = manifests_.find(key); found != manifests_.end()) {
    shards.insert(found->second.text());
  }
  if (const auto found = tables_.find(key); found != tables_.end()) {
    shards.insert(found->second.shard.text());
  }
  if (parsed.kind == Kind::kLogObject) {
    for (const NeededLog& log : logs_) {
      if (log.incarnation != parsed.incarnation || !log.covers(parsed.seq)) continue;
      shards.insert(log.shard.text());
    }
  }
  std::string text;
  for (const std::string& shard : shards) text += (text.empty() ? "shard " : ", ") + shard;
  return text.empty() ? "no shard" : text;
}

bool Needs::is_beyond_a_fence(const IncarnationId& incarnation, LogSeq seq) const {
  return std::any_of(logs_.begin(), logs_.end(), [&](const NeededLog& log) {
    return log.incarnation == incarnation && log.to && seq >= *log.to;
  });
}

}  // namespace morula
