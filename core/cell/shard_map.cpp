#include "core/cell/shard_map.hpp"

#include <algorithm>

namespace morula {

void ShardMap::begin(LogWriter& log, const LeaseView& lease, MemoryBudget& memory,
                     const StreamLimits& limits) {
  here_ = std::make_shared<Here>(env_, log, lease, memory, limits);
}

// A split or merge of one's own may be in the topology before its answer is here: the shard stays
// until it is exchanged.
bool ShardMap::is_anothers(Prefix shard) const {
  return std::ranges::any_of(topology_->shards, [&](const TopologyShard& row) {
    return row.owner != self_ && (row.prefix.contains(shard) || shard.contains(row.prefix));
  });
}

void ShardMap::learn(Topology topology) {
  if (topology_ && topology.version < topology_->version) return;
  topology_ = std::move(topology);
  // A shard that has been given to another is not served here any more, whatever the lease says.
  for (const auto& shard : here_ ? here_->rows.all() : std::vector<std::shared_ptr<Shard>>()) {
    if (!is_anothers(shard->prefix())) continue;
    here_->rows.remove(shard->prefix());
    here_->streams.forget(shard->prefix());
  }
  std::erase_if(addresses_, [&](const auto& entry) {
    return std::none_of(topology_->shards.begin(), topology_->shards.end(),
                        [&](const TopologyShard& row) { return row.owner == entry.first; });
  });
}

void ShardMap::learn_address(const IncarnationId& owner, std::string address) {
  addresses_[owner] = std::move(address);
}

ShardMap::Figures ShardMap::figures() const {
  Figures figures;
  if (!here_) return figures;
  for (const auto& served : here_->rows.all()) {
    const Shard::Figures shard = served->figures();
    ++figures.shards;
    figures.sums.memtable_bytes += shard.memtable_bytes;
    figures.sums.tables += shard.tables;
    figures.sums.table_bytes += shard.table_bytes;
    figures.sums.unmerged_tables += shard.unmerged_tables;
    figures.sums.delayed_writes += shard.delayed_writes;
    figures.sums.delayed_now += shard.delayed_now;
    figures.sums.delay += shard.delay;
  }
  return figures;
}

bool ShardMap::owns_all() const {
  return topology_ && std::all_of(topology_->shards.begin(), topology_->shards.end(),
                                  [&](const TopologyShard& row) { return row.owner == self_; });
}

std::optional<std::vector<Version>> ShardMap::all_versions() const {
  if (!owns_all()) return std::nullopt;
  std::vector<Version> versions{topology_->version};
  for (const auto& shard : here_->rows.all()) versions.push_back(shard->manifest().version);
  return versions;
}

void ShardMap::wait_for_look(Time at) {
  if (!look_asked_) looker_.wait_until(env_.clock, at);
  look_asked_ = false;
}

void ShardMap::looked() {
  ++looks_;
  waiting_.wake_all();
}

Place ShardMap::locate(StreamId id) {
  if (here_ && here_->rows.serves(id)) return here();
  if (!topology_) return ServedUnknown{};
  return place_of(topology_->shard_of(id));
}

std::vector<ShardPlace> ShardMap::shards() {
  std::vector<ShardPlace> places;
  if (!topology_) return places;
  places.reserve(topology_->shards.size());
  for (const TopologyShard& row : topology_->shards) places.push_back({row.prefix, place_of(row)});
  return places;
}

Place ShardMap::place_of(const TopologyShard& row) const {
  if (here_ && here_->rows.serves(row.prefix)) return here();
  if (const auto found = addresses_.find(row.owner); found != addresses_.end()) {
    return ServedElsewhere{found->second};
  }
  return ServedUnknown{};
}

void ShardMap::refresh(Time deadline) {
  look_asked_ = true;
  looker_.wake_all();
  // A look that was under way may have read what the caller knows to be stale: wait for a whole
  // one.
  const uint64_t enough = looks_ + 1;
  while (looks_ < enough && waiting_.wait_until(env_.clock, deadline)) {
  }
}

bool ShardMap::ready() const {
  return topology_ && std::all_of(topology_->shards.begin(), topology_->shards.end(),
                                  [&](const TopologyShard& row) {
                                    return !std::holds_alternative<ServedUnknown>(place_of(row));
                                  });
}

}  // namespace morula
