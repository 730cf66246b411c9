#include "core/cell/shard_map.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"

namespace morula {

void ShardMap::begin(LogWriter& log, const LeaseView& lease, MemoryBudget& memory,
                     const StreamLimits& limits) {
  here_ = std::make_shared<Here>(env_, log, lease, memory, limits);
}

ShardMap::Hold::Hold(ShardMap& map, std::vector<Prefix> prefixes)
    : map_(&map), prefixes_(std::move(prefixes)) {
  map_->held_.insert(map_->held_.end(), prefixes_.begin(), prefixes_.end());
}

ShardMap::Hold& ShardMap::Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    release();
    map_ = std::exchange(other.map_, nullptr);
    prefixes_ = std::move(other.prefixes_);
  }
  return *this;
}

void ShardMap::Hold::release() {
  if (map_ == nullptr) return;
  for (const Prefix prefix : prefixes_) {
    map_->held_.erase(std::ranges::find(map_->held_, prefix));
  }
  std::exchange(map_, nullptr)->changed_.wake_all();
}

std::optional<ShardMap::Hold> ShardMap::hold(std::vector<Prefix> prefixes) {
  if (std::ranges::any_of(prefixes, [&](Prefix prefix) { return is_held(prefix); })) {
    return std::nullopt;
  }
  return Hold(*this, std::move(prefixes));
}

bool ShardMap::is_held(Prefix prefix) const {
  return std::ranges::any_of(held_, [&](Prefix held) { return held.overlaps(prefix); });
}

bool ShardMap::is_here(Prefix prefix) const {
  if (!here_) return false;
  if (is_held(prefix) || here_->rows.find_shard(prefix) != nullptr) return true;
  return std::ranges::any_of(here_->rows.all(),
                             [&](const auto& shard) { return shard->prefix().overlaps(prefix); });
}

bool ShardMap::is_named(const Shard& shard) const {
  const TopologyShard* row = topology_->find(shard.prefix());
  return row != nullptr && row->owner == self_ && row->manifest == shard.manifest_key();
}

void ShardMap::learn(Topology topology) {
  const bool stale = topology_ && topology.version < topology_->version;
  if (!stale || mutated(Mutant::stale_route_wins)) topology_ = std::move(topology);
  // A shard that has been given to another is not served here any more, whatever the lease says.
  for (const auto& shard : here_ ? here_->rows.all() : std::vector<std::shared_ptr<Shard>>()) {
    // Who holds it knows better: a change of one's own may be in the topology before its answer is
    // here.
    if (!is_named(*shard) && !is_held(shard->prefix())) drop(shard->prefix());
  }
  std::erase_if(addresses_, [&](const auto& entry) {
    return std::none_of(topology_->shards.begin(), topology_->shards.end(),
                        [&](const TopologyShard& row) { return row.owner == entry.first; });
  });
  changed_.wake_all();
}

void ShardMap::drop(Prefix prefix) {
  const std::shared_ptr<Shard> shard = here_->rows.find_shard(prefix);
  here_->rows.remove(prefix);
  if (!mutated(Mutant::stale_state_decides)) here_->streams.forget(prefix);
  shard->retire();
}

void ShardMap::learn_address(const IncarnationId& owner, std::string address) {
  addresses_[owner] = std::move(address);
  changed_.wake_all();
}

void ShardMap::serve(std::shared_ptr<Shard> shard) {
  here_->rows.serve(std::move(shard));
  changed_.wake_all();
}

void ShardMap::resume(Prefix shard) {
  here_->rows.resume(shard);
  changed_.wake_all();
}

ShardMap::Figures ShardMap::figures() const {
  Figures figures;
  if (!here_) return figures;
  std::vector<const Memtable*> memtables;  // halves of a split share theirs
  for (const auto& served : here_->rows.all()) {
    const Shard::Figures shard = served->figures();
    ++figures.shards;
    served->for_each_memtable([&](const Memtable& memtable) {
      if (std::ranges::find(memtables, &memtable) != memtables.end()) return;
      memtables.push_back(&memtable);
      figures.sums.memtable_bytes += memtable.bytes();
    });
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
}

void ShardMap::look_begins() {
  ++looks_begun_;
  look_asked_ = false;
}

void ShardMap::looked() {
  looks_done_ = looks_begun_;
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
  if (row.owner == self_) return ServedSoon{};
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
  const uint64_t enough = looks_begun_ + 1;
  while (looks_done_ < enough && waiting_.wait_until(env_.clock, deadline)) {
  }
}

void ShardMap::await_change(Time deadline) {
  changed_.wait_until(env_.clock, deadline);
}

bool ShardMap::ready() const {
  return topology_ && std::ranges::all_of(topology_->shards, [&](const TopologyShard& row) {
           const Place place = place_of(row);
           // A shard that changes hands is served in a moment: that makes nobody unready.
           const bool changes_hands =
               std::holds_alternative<ServedSoon>(place) && is_held(row.prefix);
           return changes_hands || std::holds_alternative<ServedHere>(place) ||
                  std::holds_alternative<ServedElsewhere>(place);
         });
}

}  // namespace morula
