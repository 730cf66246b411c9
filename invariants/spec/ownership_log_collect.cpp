// Collection of the logs of incarnations that are over.
#include "invariants/spec/ownership_log.hpp"

namespace morula::spec {

bool OwnershipLog::collect_judge(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  if (now.collector.at != LogCollector::At::kIdle) return false;
  if (now.counts.collections >= c_.max_collections) return false;
  const bool topology_first = on(Switch::d_gcOrder);
  if (topology_first) {
    if (step.position != 0) return false;
    if (!on(Switch::d_gcOwner) && !owned_by(now, i).empty()) return false;
  } else if (!counts(now.of(i), step.position)) {
    return false;
  }
  if (after == nullptr) return true;

  ++after->counts.collections;
  LogCollector& collector = after->collector;
  collector.of = i;
  collector.fence = step.position;
  collector.at = topology_first ? LogCollector::At::kReadTopology : LogCollector::At::kJudged;
  for (const ShardRow& row : now.topology) {
    if (topology_first) collector.keys.insert(row.key);
  }
  return true;
}

bool OwnershipLog::collect_read_topology(const State& now, const Step&, State* after) const {
  if (now.collector.at != LogCollector::At::kJudged) return false;
  if (!on(Switch::d_gcOwner) && !owned_by(now, now.collector.of).empty()) return false;
  if (after == nullptr) return true;

  after->collector.at = LogCollector::At::kReadTopology;
  for (const ShardRow& row : now.topology) after->collector.keys.insert(row.key);
  return true;
}

bool OwnershipLog::collect_read_manifests(const State& now, const Step&, State* after) const {
  if (now.collector.at != LogCollector::At::kReadTopology) return false;
  if (after == nullptr) return true;

  LogCollector& collector = after->collector;
  collector.at = LogCollector::At::kDelete;
  collector.keys.clear();
  const int last = last_position(now.of(collector.of));
  for (const int key : now.collector.keys) {
    for (const LogEntry& e : now.manifest(key).logs) {
      if (e.incarnation != collector.of) continue;
      for (int seq = e.from; seq <= last && e.holds(seq); ++seq) collector.named.insert(seq);
    }
  }
  return true;
}

bool OwnershipLog::collect(const State& now, const Step& step, State* after) const {
  const LogCollector& collector = now.collector;
  if (collector.at != LogCollector::At::kDelete || collector.of != step.incarnation) return false;
  const LogIncarnation& i = now.of(collector.of);
  const LogObject object = i.object(step.seq);
  if (collector.named.contains(step.seq) || object == LogObject::kNone) return false;
  Set<int> judged;
  for (int f = 0; f <= i.highest_object(); ++f) {
    if (counts(i, f)) judged.insert(f);
  }
  if (on(Switch::d_gcOrder) && judged.empty()) return false;
  if (object == LogObject::kFence && !on(Switch::gcFence)) {
    const bool another = on(Switch::d_gcOrder) ? judged.any([&](int f) { return f != step.seq; })
                                               : collector.fence != step.seq;
    if (!on(Switch::d_gcOneFence) || !another) return false;
  }
  if (after != nullptr) after->of(collector.of).set_object(step.seq, LogObject::kNone);
  return true;
}

bool OwnershipLog::collect_end(const State& now, const Step&, State* after) const {
  if (now.collector.at == LogCollector::At::kIdle) return false;
  if (now.counts.collections >= c_.max_collections) return false;
  if (after != nullptr) after->collector = {};
  return true;
}

}  // namespace morula::spec
