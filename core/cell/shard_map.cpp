#include "core/cell/shard_map.hpp"

#include <algorithm>

namespace morula {

void ShardMap::learn(Topology topology) {
  if (topology_ && topology.version < topology_->version) return;
  topology_ = std::move(topology);
  // A shard that has been given to another is not served here any more, whatever the lease says.
  std::erase_if(served_, [&](const auto& entry) {
    const TopologyShard* row = topology_->find(entry.first);
    return row == nullptr || row->owner != self_;
  });
  std::erase_if(addresses_, [&](const auto& entry) {
    return std::none_of(topology_->shards.begin(), topology_->shards.end(),
                        [&](const TopologyShard& row) { return row.owner == entry.first; });
  });
}

void ShardMap::learn_address(const IncarnationId& owner, std::string address) {
  addresses_[owner] = std::move(address);
}

void ShardMap::serve(std::shared_ptr<ServedShard> shard) {
  const Prefix prefix = shard->shard->prefix();
  served_[prefix] = std::move(shard);
}

ShardMap::Figures ShardMap::figures() const {
  Figures figures;
  for (const auto& [prefix, served] : served_) {
    const Shard::Figures shard = served->shard->figures();
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
  for (const auto& [prefix, served] : served_) {
    versions.push_back(served->shard->manifest().version);
  }
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
  if (const auto found = served_.find(row.prefix); found != served_.end()) {
    return ServedHere{std::shared_ptr<Streams>(found->second, &found->second->streams)};
  }
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
                                    return served_.contains(row.prefix) ||
                                           addresses_.contains(row.owner);
                                  });
}

}  // namespace morula
