// Handoff of a shard by its living owner, and how a new owner begins to serve.
#include "invariants/spec/ownership_log.hpp"

namespace morula::spec {

bool OwnershipLog::replay(const State& now, const Step& step, State* after) const {
  const auto [j, x] = std::pair(step.incarnation, step.shard);
  const LogIncarnation& own = now.of(j);
  const ShardRow& row = now.row(x);
  if (row.owner != j || own.stopped || now.serves(j, x) == row.key) return false;
  if (own.handing.at == Handing::At::kStopped && own.handing.shard == x) return false;
  if (!on(Switch::resumeEarly) && waits_for_topology(now, j, x)) return false;
  if (!now.manifest(row.key).open_for(j)) return false;
  if (after != nullptr) after->serve(j, x, row.key);
  return true;
}

bool OwnershipLog::hand_ask(const State& now, const Step& step, State* after) const {
  const auto [i, x] = std::pair(step.incarnation, step.shard);
  const int key = now.serves(i, x);
  if (now.counts.handoffs >= c_.max_handoffs || i == step.other) return false;
  if (now.of(i).handing.at != Handing::At::kIdle || key == 0) return false;
  if (now.row(x).owner != i || now.row(x).key != key) return false;
  if (waits_for_topology(now, i, x)) return false;
  if (after == nullptr) return true;

  ++after->counts.handoffs;
  after->of(i).handing = {Handing::At::kAsked,  x,   step.other,
                          now.topology_version, key, after->counts.handoffs};
  return true;
}

bool OwnershipLog::accept(const State& now, const Step& step, State* after) const {
  const Handing& handing = now.of(step.incarnation).handing;
  if (handing.at == Handing::At::kIdle || now.of(handing.to).stopped) return false;
  const auto of_attempt = [&](const Promise& r) { return r.attempt == handing.attempt; };
  if (!on(Switch::askAgain) && now.promises.any(of_attempt)) return false;
  if (!own_positions(now, handing.to).contains(step.position)) return false;
  if (after == nullptr) return true;

  Set<Promise> promises;
  for (Promise r : now.promises) {
    if (of_attempt(r)) r.pinned = false;
    promises.insert(r);
  }
  promises.insert(
      {handing.attempt, handing.to, step.position, handing.version, !on(Switch::noPromise)});
  after->promises = std::move(promises);
  return true;
}

bool OwnershipLog::hand_seal(const State& now, const Step& step, State* after) const {
  const Handing& handing = now.of(step.incarnation).handing;
  if (handing.at != Handing::At::kAsked) return false;
  if (after == nullptr) return true;

  after->of(step.incarnation).handing.at = Handing::At::kSealed;
  if (on(Switch::handNoSeal)) return true;
  if (!now.manifest(handing.key).sealed) after->seal(handing.key);
  after->void_requests(handing.key);
  return true;
}

bool OwnershipLog::hand_stop(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const Handing& handing = now.of(i).handing;
  if (handing.at != Handing::At::kSealed) return false;
  if (now.serves(i, handing.shard) != handing.key) return false;
  if (after == nullptr) return true;

  after->of(i).handing.at = Handing::At::kStopped;
  if (!on(Switch::handNoStop)) after->serve(i, handing.shard, 0);
  return true;
}

bool OwnershipLog::hand_off(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const LogIncarnation& own = now.of(i);
  const Handing& handing = own.handing;
  if (handing.at != Handing::At::kStopped) return false;
  const ShardRow& row = now.row(handing.shard);
  const bool still_named = on(Switch::handRebase) ? row.owner == i && row.key == handing.key
                                                  : now.topology_version == handing.version;
  if (!still_named) return false;
  const int acknowledged = own.acknowledged();
  for (int seq = acknowledged; seq < own.next(); ++seq) {
    if (own.batch(seq).shard == handing.shard && !on(Switch::handNoWait)) return false;
  }
  const bool promised = now.promises.any([&](const Promise& r) {
    return r.attempt == handing.attempt && r.position == step.position;
  });
  if (!promised) return false;
  if (after == nullptr) return true;

  const LogManifest& m = now.manifest(handing.key);
  LogManifest handed{0, false, m.tables, closed_at(m.logs, i, acknowledged)};
  handed.logs.insert({handing.to, step.position, kOpen});
  after->manifests.push_back(std::move(handed));
  const int key = static_cast<int>(after->manifests.size());
  after->topology_requests.insert(
      {i, now.topology_version, {{handing.shard, key, row.epoch + 1, handing.to}}});
  if (on(Switch::resumeNoCompare)) {
    after->of(i).handing.at = Handing::At::kSent;
  } else {
    after->of(i).handing = {};
  }
  return true;
}

bool OwnershipLog::hand_abort(const State& now, const Step& step, State* after) const {
  const Handing::At at = now.of(step.incarnation).handing.at;
  if (at == Handing::At::kIdle || at == Handing::At::kSent) return false;
  if (after != nullptr) after->of(step.incarnation).handing = {};
  return true;
}

bool OwnershipLog::hand_resume(const State& now, const Step& step, State* after) const {
  const Handing& handing = now.of(step.incarnation).handing;
  if (handing.at != Handing::At::kSent || now.topology_version <= handing.version) return false;
  if (after == nullptr) return true;

  after->serve(step.incarnation, handing.shard, handing.key);
  after->of(step.incarnation).handing = {};
  return true;
}

}  // namespace morula::spec
