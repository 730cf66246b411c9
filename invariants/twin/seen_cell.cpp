#include "invariants/twin/seen_cell.hpp"

#include <algorithm>
#include <utility>

namespace morula::invariants::twin {

const std::string* SeenLog::served_key(Prefix shard) const {
  const auto found = serves.find(shard);
  return found == serves.end() ? nullptr : &found->second;
}

bool SeenLog::may_serve(StreamId stream) const {
  return std::ranges::any_of(serves,
                             [&](const auto& served) { return served.first.contains(stream); });
}

bool SeenLog::has_record_at(Prefix shard, uint64_t seq) const {
  const auto end = last_records.upper_bound(shard.last());
  return std::any_of(last_records.lower_bound(shard.first()), end,
                     [&](const auto& record) { return record.second >= seq; });
}

SeenLog* SeenCell::log(std::string_view text) {
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second.get();
  auto id = IncarnationId::parse(text);
  if (!id) return nullptr;
  auto fresh = std::make_unique<SeenLog>();
  fresh->id = *std::move(id);
  fresh->number = static_cast<int>(logs_.size()) + 1;
  SeenLog* const added = fresh.get();
  logs_.push_back(added);
  by_id_.emplace(added->id, added);
  by_text_.emplace(std::string(text), std::move(fresh));
  return added;
}

SeenLog& SeenCell::log(const IncarnationId& id) {
  const auto known = by_id_.find(id);
  return known != by_id_.end() ? *known->second : *log(id.text());
}

const Manifest* SeenCell::manifest(const std::string& key) const {
  const auto found = manifests_.find(key);
  return found == manifests_.end() ? nullptr : found->second.get();
}

bool SeenCell::waits_for_topology(int by, Prefix shard) const {
  return std::ranges::any_of(sent_topologies_, [&](const SentTopology& request) {
    if (request.by != by) return false;
    const TopologyShard* now = topology_->find(shard);
    const TopologyShard* next = request.content->find(shard);
    return now != nullptr && (next == nullptr || next->manifest != now->manifest);
  });
}

void SeenCell::sent(SentTopology request) {
  for (const Prefix shard : request.given_away) log(request.by).serves.erase(shard);
  sent_topologies_.push_back(std::move(request));
}

void SeenCell::landed(const std::string& key, std::shared_ptr<const Manifest> content) {
  std::erase_if(sent_manifests_, [&](const SentManifest& request) {
    return request.key == key && request.content->version <= content->version;
  });
  manifests_[key] = std::move(content);
}

void SeenCell::landed(std::shared_ptr<const Topology> content) {
  const std::shared_ptr<const Topology> before = std::exchange(topology_, std::move(content));
  const std::vector<SentTopology> over = std::exchange(sent_topologies_, {});
  std::erase_if(promises_,
                [&](const SeenPromise& promise) { return promise.base < topology_->version; });
  // A giver whose swap has failed serves on, if it is still named.
  for (const SentTopology& request : over) {
    for (const Prefix shard : request.given_away) {
      const TopologyShard* row = topology_->find(shard);
      SeenLog& giver = log(request.by);
      if (row != nullptr && row->owner == giver.id) giver.serves[shard] = row->manifest;
    }
  }
  serve_named(before ? *before : Topology{});
  for (auto& [collector, read] : readings_) read.push_back(topology_);
}

bool SeenCell::is_owner_to(CollectorId collector, const IncarnationId& incarnation) const {
  const auto owns = [&](const std::shared_ptr<const Topology>& topology) {
    return topology && std::ranges::find(topology->shards, incarnation, &TopologyShard::owner) !=
                           topology->shards.end();
  };
  const auto read = readings_.find(collector);
  return read == readings_.end() ? owns(topology_) : std::ranges::all_of(read->second, owns);
}

/// Who is newly named serves, from now on as far as anybody can tell.
void SeenCell::serve_named(const Topology& before) {
  for (const TopologyShard& row : topology_->shards) {
    const TopologyShard* was = before.find(row.prefix);
    if (was != nullptr && was->manifest == row.manifest && was->owner == row.owner) continue;
    auto& serves = log(row.owner).serves;
    std::erase_if(serves, [&](const auto& s) { return s.first.overlaps(row.prefix); });
    serves[row.prefix] = row.manifest;
  }
}

}  // namespace morula::invariants::twin
