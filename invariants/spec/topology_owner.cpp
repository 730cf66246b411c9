// What an owner does by itself: append, flush, compact, trim; and what a collector does.
#include <algorithm>
#include <climits>

#include "invariants/spec/topology.hpp"

namespace morula::spec {

bool Topology::acknowledge(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const TopologyIncarnation& own = now.of(i);
  const auto point = static_cast<size_t>(step.point);
  if (own.fenced_at != -1 || own.next() >= c_.max_seq) return false;
  int records = 0;
  for (const TopologyIncarnation& other : now.incarnations) records += other.next();
  if (records >= c_.max_records || !serves_point(now, i, step.point)) return false;
  const RowOffset highest = own.highest[point];
  const BatchId& last = now.last[point];
  if (step.deleted) {
    if (last.incarnation == 0 || now.record(last).deleted || highest.change == 0) return false;
  }
  if (after == nullptr) return true;

  const RowOffset offset = highest.change == 0 ? RowOffset{highest.generation + 1, 1}
                                               : RowOffset{highest.generation, highest.change + 1};
  TopologyIncarnation& next = after->of(i);
  next.log.push_back({step.point, step.deleted, offset});
  next.highest[point] = step.deleted ? RowOffset{offset.generation, 0} : offset;
  after->last[point] = {i, own.next()};
  return true;
}

bool Topology::flush(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const ServedPrefix* served = now.serves(i, step.prefix);
  if (now.counts.flushes >= c_.max_flushes || served == nullptr) return false;
  const ClippedManifest& m = now.manifest(served->key);
  if (m.sealed || !m.open_for(i)) return false;
  if (!on(Switch::splitNoHold) && holds_structure(now, i, step.prefix)) return false;
  Set<BatchId> records;
  for (int x = 0; x < points(); ++x) {
    if (step.prefix.contains(at(x))) records.insert(log_records(now, m, x));
  }
  if (records.empty()) return false;
  if (after == nullptr) return true;

  after->tables.push_back({std::move(records), i, true});
  Set<ClippedTable> tables = m.tables;
  tables.insert({static_cast<int>(after->tables.size()), step.prefix});
  after->manifest_requests.insert({i,
                                   served->key,
                                   m.version,
                                   m.mark,
                                   std::move(tables),
                                   {{step.prefix, i, now.of(i).next(), kOpen}}});
  ++after->counts.flushes;
  return true;
}

bool Topology::compact(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const ServedPrefix* served = now.serves(i, step.prefix);
  if (now.counts.compactions >= c_.max_compactions || served == nullptr) return false;
  const ClippedManifest& m = now.manifest(served->key);
  if (m.sealed || !m.open_for(i)) return false;
  if (!on(Switch::splitNoHold) && holds_structure(now, i, step.prefix)) return false;
  if (step.tables.any([&](const ClippedTable& t) { return !m.tables.contains(t); })) return false;

  Set<ClippedTable> rest = m.tables;
  rest.erase_if([&](const ClippedTable& t) { return step.tables.contains(t); });
  Set<BatchId> kept;
  int mark = m.mark;
  bool any = false;
  for (int x = 0; x < points(); ++x) {
    if (!step.prefix.contains(at(x))) continue;
    const Set<BatchId> merged = table_records(now, step.tables, x);
    Set<BatchId> outside = table_records(now, rest, x);
    if (!on(Switch::compactNoLog)) outside.insert(log_records(now, m, x));
    for (const BatchId& id : merged) {
      any = true;
      const LoggedRow& row = now.record(id);
      const auto newer = [&](const BatchId& other) { return rank(now, other) > rank(now, id); };
      const auto older = [&](const BatchId& other) {
        return now.record(other).offset < row.offset;
      };
      const bool needed = !on(Switch::compactPart) && outside.any(older);
      if (!merged.any(newer) && (!row.deleted || needed)) {
        kept.insert(id);
      } else if (row.deleted && !on(Switch::markNotRaised)) {
        mark = std::max(mark, row.offset.generation);
      }
    }
  }
  if (!any) return false;
  if (after == nullptr) return true;

  after->tables.push_back({kept, i, true});
  if (!kept.empty()) rest.insert({static_cast<int>(after->tables.size()), step.prefix});
  after->manifest_requests.insert({i, served->key, m.version, mark, std::move(rest), m.logs});
  ++after->counts.compactions;
  return true;
}

bool Topology::land_manifest(const State& now, const Step& step, State* after) const {
  if (step.request >= now.manifest_requests.size()) return false;
  const ClippedManifestRequest& g = now.manifest_requests.at(step.request);
  const ClippedManifest& m = now.manifest(g.key);
  if (m.version != g.base || m.sealed) return false;
  if (after == nullptr) return true;

  after->manifest(g.key) = {g.base + 1, false, g.tables, g.logs, g.mark};
  after->manifest_requests.erase_if(
      [&](const ClippedManifestRequest& h) { return h.key == g.key; });
  return true;
}

bool Topology::trim(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  bool any = false;
  for (int seq = trim_bound(now, i) - 1; seq >= 0; --seq) {
    if (now.gone.contains({i, seq})) continue;
    any = true;
    if (after == nullptr) break;
    after->gone.insert({i, seq});
  }
  return any;
}

bool Topology::collect_list(const State& now, const Step&, State* after) const {
  if (now.collector.at != TableCollector::At::kIdle) return false;
  if (now.counts.collections >= c_.max_collections) return false;
  if (after == nullptr) return true;

  ++after->counts.collections;
  TableCollector& collector = after->collector;
  collector.at = TableCollector::At::kListed;
  for (size_t n = 0; n < now.tables.size(); ++n) {
    if (now.tables[n].exists) collector.candidates.insert(static_cast<int>(n) + 1);
  }
  for (int i = 1; i <= now.incarnation_count(); ++i) {
    if (now.of(i).fenced_at != -1) collector.fenced.insert(i);
    collector.floors.push_back(upload_floor(now, i));
  }
  return true;
}

bool Topology::collect_read_topology(const State& now, const Step&, State* after) const {
  if (now.collector.at != TableCollector::At::kListed) return false;
  if (after == nullptr) return true;

  after->collector.at = TableCollector::At::kReadTopology;
  for (const PrefixRow& row : now.rows) {
    after->collector.keys.insert({row.key, row.logs});
    after->collector.owners.insert(row.owner);
  }
  return true;
}

bool Topology::collect_read_manifests(const State& now, const Step&, State* after) const {
  if (now.collector.at != TableCollector::At::kReadTopology) return false;
  if (after == nullptr) return true;

  TableCollector& collector = after->collector;
  collector.at = TableCollector::At::kDelete;
  collector.keys.clear();
  for (const NamedManifest& named : now.collector.keys) {
    const ClippedManifest& m = now.manifest(named.key);
    for (const ClippedTable& table : m.tables) collector.named_tables.insert(table.id);
    for (const ClippedEntry& e : m.logs) {
      // Only of incarnations that the row holds: of another one's log it is not read.
      if (!named.logs.contains(e.incarnation)) continue;
      // A log that is collected is fenced: without a bound, it ends where it ends now.
      const int end = c_.max_seq != INT_MAX ? c_.max_seq : now.of(e.incarnation).next();
      for (int seq = e.from; seq < std::min(e.to, end); ++seq) {
        collector.named_logs.insert({e.incarnation, seq});
      }
    }
  }
  return true;
}

bool Topology::collect(const State& now, const Step&, State* after) const {
  const TableCollector& was = now.collector;
  if (was.at != TableCollector::At::kDelete) return false;
  if (after == nullptr) return true;

  const bool late = on(Switch::d_gcListLate);
  const auto fenced = [&](int i) {
    return late ? now.of(i).fenced_at != -1 : was.fenced.contains(i);
  };
  const auto dead = [&](int i) { return fenced(i) && !was.owners.contains(i); };
  for (size_t n = 0; n < now.tables.size(); ++n) {
    const SpecTable& table = now.tables[n];
    const int id = static_cast<int>(n) + 1;
    const bool candidate = late ? table.exists : was.candidates.contains(id);
    const bool below_floor = id < was.floors[static_cast<size_t>(table.by - 1)];
    if (candidate && !was.named_tables.contains(id) &&
        (dead(table.by) || on(Switch::gcNoFloor) || below_floor)) {
      after->tables[n].exists = false;
    }
  }
  for (int i = 1; i <= now.incarnation_count(); ++i) {
    if (on(Switch::d_gcOwner) ? !fenced(i) : !dead(i)) continue;
    for (int seq = 0; seq < now.of(i).next(); ++seq) {
      if (!was.named_logs.contains({i, seq})) after->gone.insert({i, seq});
    }
  }
  after->collector = {};
  return true;
}

}  // namespace morula::spec
