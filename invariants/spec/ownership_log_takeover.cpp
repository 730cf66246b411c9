// Takeover of shards whose owner is over, and how a topology CAS lands.
#include "invariants/spec/ownership_log.hpp"

namespace morula::spec {

bool OwnershipLog::take_over(const State& now, const Step& step, State* after) const {
  const auto [j, i] = std::pair(step.incarnation, step.other);
  if (now.of(j).taking.at != Taking::At::kIdle || now.of(j).stopped || i == j) return false;
  if (now.counts.takeovers >= c_.max_takeovers) return false;
  if (step.shards.empty() == on(Switch::sealFirst)) return false;
  const Set<int> owned = owned_by(now, i);
  if (!owned.any([&, taker = j](int x) { return now.serves(taker, x) == 0; })) return false;
  if (!fence_positions(now.of(i)).contains(step.position)) return false;
  if (step.shards.any([&](int x) { return !owned.contains(x); })) return false;
  if (after == nullptr) return true;

  ++after->counts.takeovers;
  Taking& taking = after->of(j).taking;
  taking.at = Taking::At::kPut;
  taking.from = i;
  taking.fence = step.position;
  for (const int x : step.shards) {
    taking.rows.insert({x, now.row(x).key});
    after->seal(now.row(x).key);
  }
  return true;
}

bool OwnershipLog::collector_fence(const State& now, const Step& step, State* after) const {
  const auto [j, i] = std::pair(step.incarnation, step.other);
  if (now.of(j).taking.at != Taking::At::kIdle || i == j || now.of(i).sent.empty()) return false;
  if (now.counts.fences >= c_.max_fences) return false;
  if (!fence_positions(now.of(i)).contains(step.position)) return false;
  if (after == nullptr) return true;

  ++after->counts.fences;
  Taking& taking = after->of(j).taking;
  taking.at = Taking::At::kPut;
  taking.from = i;
  taking.fence = step.position;
  taking.collector = true;
  return true;
}

bool OwnershipLog::fence_again(const State& now, const Step& step, State* after) const {
  const Taking& was = now.of(step.incarnation).taking;
  if (was.at != Taking::At::kList) return false;
  if (!fence_positions(now.of(was.from)).contains(step.position)) return false;
  if (after == nullptr) return true;

  Taking& taking = after->of(step.incarnation).taking;
  taking.at = Taking::At::kPut;
  taking.fence = step.position;
  return true;
}

bool OwnershipLog::fence_put(const State& now, const Step& step, State* after) const {
  const Taking& was = now.of(step.incarnation).taking;
  if (was.at != Taking::At::kPut) return false;
  if (after == nullptr) return true;

  Taking& taking = after->of(step.incarnation).taking;
  if (now.of(was.from).object(was.fence) == LogObject::kData) {
    taking.at = Taking::At::kList;
    taking.fence = 0;
  } else {
    after->of(was.from).set_object(was.fence, LogObject::kFence);
    taking.at = Taking::At::kCheck;
  }
  return true;
}

bool OwnershipLog::fence(const State& now, const Step& step, State* after) const {
  const Taking& was = now.of(step.incarnation).taking;
  if (was.at != Taking::At::kCheck) return false;
  if (after == nullptr) return true;

  Taking& taking = after->of(step.incarnation).taking;
  if (!counts(now.of(was.from), was.fence)) {
    taking.at = Taking::At::kList;
    taking.fence = 0;
  } else if (was.collector) {
    taking = {};
  } else {
    taking.at = Taking::At::kFenced;
  }
  return true;
}

bool OwnershipLog::take_read(const State& now, const Step& step, State* after) const {
  const int j = step.incarnation;
  const Taking& was = now.of(j).taking;
  if (was.at != Taking::At::kFenced || now.of(j).stopped) return false;
  const Set<int> owned = owned_by(now, was.from);
  const bool lost = was.rows.any([&](const NamedShard& r) {
    return !owned.contains(r.shard) || now.row(r.shard).key != r.key;
  });
  const bool nothing = owned.empty() || (on(Switch::sealFirst) && lost);
  if (nothing != step.shards.empty()) return false;
  if (step.shards.any([&](int x) { return !owned.contains(x); })) return false;
  if (on(Switch::sealFirst) && !nothing) {
    Set<int> sealed;
    for (const NamedShard& r : was.rows) sealed.insert(r.shard);
    if (step.shards != sealed) return false;
  }
  if (after == nullptr) return true;

  Taking& taking = after->of(j).taking;
  if (nothing) {
    taking = {};
    return true;
  }
  taking.at = Taking::At::kSeal;
  taking.version = now.topology_version;
  taking.rows.clear();
  for (const int x : step.shards) taking.rows.insert({x, now.row(x).key});
  taking.pinned = on(Switch::qBeforePin) ? now.of(j).next() : 0;
  taking.to_seal = step.shards;
  if (on(Switch::noSeal) || on(Switch::sealFirst)) taking.to_seal.clear();
  if (on(Switch::sealOne)) taking.to_seal = {step.shards.lowest()};
  return true;
}

bool OwnershipLog::seal(const State& now, const Step& step, State* after) const {
  const Taking& was = now.of(step.incarnation).taking;
  if (was.at != Taking::At::kSeal || was.to_seal.empty()) return false;
  if (after == nullptr) return true;

  const int x = was.to_seal.lowest();
  for (const NamedShard& r : was.rows) {
    if (r.shard != x) continue;
    after->seal(r.key);
    after->void_requests(r.key);
  }
  after->of(step.incarnation).taking.to_seal.erase(x);
  return true;
}

bool OwnershipLog::adopt(const State& now, const Step& step, State* after) const {
  const int j = step.incarnation;
  const Taking& was = now.of(j).taking;
  if (was.at != Taking::At::kSeal || !was.to_seal.empty()) return false;
  if (after == nullptr) return true;

  Taking& taking = after->of(j).taking;
  if (now.topology_version != was.version && !on(Switch::takeRebase)) {
    taking = {};
    taking.at = Taking::At::kFenced;
    taking.from = was.from;
    taking.fence = was.fence;
    if (on(Switch::sealFirst)) taking.rows = was.rows;
    return true;
  }
  TopologyRequest request{j, now.topology_version, {}};
  for (const NamedShard& r : was.rows) {
    const LogManifest& m = now.manifest(r.key);
    LogManifest adopted{0, false, m.tables, closed_at(m.logs, was.from, was.fence)};
    adopted.logs.insert({j, step.position, kOpen});
    after->manifests.push_back(std::move(adopted));
    const int key = static_cast<int>(after->manifests.size());
    request.rows.insert({r.shard, key, now.row(r.shard).epoch + 1, j});
  }
  after->topology_requests.insert(std::move(request));
  taking = {};
  return true;
}

bool OwnershipLog::publish(const State& now, const Step& step, State* after) const {
  if (step.request >= now.topology_requests.size()) return false;
  const TopologyRequest& g = now.topology_requests.at(step.request);
  if (g.base != now.topology_version && !on(Switch::noTopoCheck)) return false;
  if (after == nullptr) return true;

  ++after->topology_version;
  for (const PublishedRow& row : g.rows) after->row(row.shard) = {row.epoch, row.owner, row.key};
  if (!on(Switch::handRebase) && !on(Switch::noTopoCheck)) after->promises.clear();
  if (on(Switch::noTopoCheck)) {
    after->topology_requests.erase(g);
    return true;
  }
  // What the others would have published can be forgotten.
  for (const TopologyRequest& h : now.topology_requests) {
    if (h == g) continue;
    for (const PublishedRow& row : h.rows) after->manifest(row.key) = {0, true, {}, {}};
  }
  after->topology_requests.clear();
  return true;
}

}  // namespace morula::spec
