// What Topology.tla defines over its variables, and its invariants.
#include <algorithm>

#include "core/base/check.hpp"
#include "invariants/spec/topology.hpp"

namespace morula::spec {

bool Topology::serves_point(const State& s, int incarnation, int point) const {
  return s.of(incarnation).serves.any([&](const ServedPrefix& served) {
    return served.prefix.contains(at(point));
  });
}

Set<BatchId> Topology::log_records(const State& s, const ClippedManifest& m, int point) const {
  Set<BatchId> records;
  for (const ClippedEntry& e : m.logs) {
    if (!e.clip.contains(at(point))) continue;
    const TopologyIncarnation& i = s.of(e.incarnation);
    for (int seq = e.from; seq < std::min(e.to, i.next()); ++seq) {
      if (i.log[static_cast<size_t>(seq)].point == point) records.insert({e.incarnation, seq});
    }
  }
  return records;
}

Set<BatchId> Topology::table_records(const State& s, const Set<ClippedTable>& tables,
                                     int point) const {
  Set<BatchId> records;
  for (const ClippedTable& table : tables) {
    if (!table.clip.contains(at(point))) continue;
    for (const BatchId& id : s.table(table.id).records) {
      if (s.record(id).point == point) records.insert(id);
    }
  }
  return records;
}

RowOffset Topology::rank(const State& s, const BatchId& id) const {
  const RowOffset offset = s.record(id).offset;
  return on(Switch::changeOnly) ? RowOffset{0, offset.change} : offset;
}

RowOffset Topology::recovered(const State& s, const ClippedManifest& m, int point) const {
  const int mark = on(Switch::d_noHighWater) ? 0 : m.mark;
  const LoggedRow* newest = nullptr;
  const auto look_at = [&](const Set<BatchId>& records) {
    for (const BatchId& id : records) {
      const LoggedRow& row = s.record(id);
      if (newest == nullptr || row.offset > newest->offset) newest = &row;
    }
  };
  look_at(log_records(s, m, point));
  look_at(table_records(s, m.tables, point));
  if (newest == nullptr) return {mark, 0};
  return newest->deleted ? RowOffset{std::max(mark, newest->offset.generation), 0} : newest->offset;
}

Set<int> Topology::row_logs(const State& s, const Set<ClippedEntry>& logs, int owner,
                            const Set<HashPrefix>& replaced) const {
  Set<int> named;
  if (on(Switch::rowStale)) {
    for (const HashPrefix& prefix : replaced) named.insert(s.row(prefix)->logs);
    return named;
  }
  for (const ClippedEntry& e : logs) named.insert(e.incarnation);
  if (!on(Switch::rowNoOwner)) named.insert(owner);
  return named;
}

bool Topology::holds_structure(const State& s, int incarnation, const HashPrefix& prefix) const {
  return s.topology_requests.any(
      [&](const PrefixRequest& g) { return g.by == incarnation && g.removes.contains(prefix); });
}

ClippedManifest Topology::narrowed(const ClippedManifest& m, const HashPrefix& prefix) const {
  ClippedManifest child{0, false, {}, {}, m.mark};
  for (const ClippedTable& table : m.tables) {
    if (table.clip.meets(prefix)) child.tables.insert({table.id, table.clip.narrowed(prefix)});
  }
  for (const ClippedEntry& e : m.logs) {
    if (e.clip.meets(prefix)) {
      child.logs.insert({e.clip.narrowed(prefix), e.incarnation, e.from, e.to});
    }
  }
  return child;
}

int Topology::trim_bound(const State& s, int incarnation) const {
  int bound = kOpen;
  const auto stay_below = [&](const Set<ClippedEntry>& logs) {
    for (const ClippedEntry& e : logs) {
      if (e.incarnation == incarnation) bound = std::min(bound, e.from);
    }
  };
  for (const ServedPrefix& served : s.of(incarnation).serves) {
    stay_below(s.manifest(served.key).logs);
  }
  for (const PrefixRow& row : s.rows) {
    if (!row.logs.contains(incarnation) || on(Switch::trimOwnOnly)) continue;
    if (on(Switch::trimByName) && row.prefix.length != 0) continue;
    stay_below(s.manifest(row.key).logs);
  }
  if (!on(Switch::d_noPin)) {
    for (const ClippedManifestRequest& g : s.manifest_requests) {
      if (g.by == incarnation) stay_below(g.logs);
    }
    for (const PrefixRequest& g : s.topology_requests) {
      if (g.by != incarnation) continue;
      for (const PrefixRow& row : g.adds) stay_below(s.manifest(row.key).logs);
    }
  }
  for (const PrefixPromise& r : s.promises) {
    if (r.by == incarnation && r.version >= s.version && !on(Switch::noPromise)) {
      bound = std::min(bound, r.position);
    }
  }
  return bound == kOpen ? s.of(incarnation).next() : bound;
}

int Topology::upload_floor(const State& s, int writer) const {
  int floor = static_cast<int>(s.tables.size()) + 1;
  for (const ClippedManifestRequest& g : s.manifest_requests) {
    if (g.by != writer) continue;
    for (const ClippedTable& table : g.tables) {
      const auto named = [&](const ClippedManifest& m) {
        return m.tables.any([&](const ClippedTable& t) { return t.id == table.id; });
      };
      const bool published = std::any_of(s.manifests.begin(), s.manifests.end(), named);
      if (s.table(table.id).by == writer && !published) floor = std::min(floor, table.id);
    }
  }
  return floor;
}

bool Topology::is_partition(const State& s) const {
  for (int x = 0; x < points(); ++x) {
    int rows = 0;
    for (const PrefixRow& row : s.rows) rows += row.prefix.contains(at(x)) ? 1 : 0;
    if (rows != 1) return false;
  }
  return true;
}

Set<BatchId> Topology::reachable(const State& s, int point) const {
  for (const PrefixRow& row : s.rows) {
    if (!row.prefix.contains(at(point))) continue;
    const ClippedManifest& m = s.manifest(row.key);
    Set<ClippedTable> tables = m.tables;
    tables.erase_if([&](const ClippedTable& t) { return !s.table(t.id).exists; });
    Set<BatchId> records = log_records(s, m, point);
    records.erase_if([&](const BatchId& id) { return s.gone.contains(id); });
    records.insert(table_records(s, tables, point));
    return records;
  }
  return {};
}

struct Topology::NamedInvariant {
  std::string_view name;
  bool (Topology::*holds)(const State&) const;
};

const std::vector<Topology::NamedInvariant>& Topology::invariants() {
  static const std::vector<NamedInvariant> kInvariants = {
      {"P", &Topology::is_partition},           {"D", &Topology::nothing_lost},
      {"X", &Topology::nothing_dangling},       {"U", &Topology::offsets_unique},
      {"M", &Topology::nothing_returns},        {"N", &Topology::rows_name_logs},
      {"NeverMerged", &Topology::never_merged}, {"NeverApart", &Topology::never_apart},
      {"NeverMarked", &Topology::never_marked}, {"NeverCollected", &Topology::never_collected},
  };
  return kInvariants;
}

bool Topology::has_invariant(std::string_view name) {
  return std::any_of(invariants().begin(), invariants().end(),
                     [&](const NamedInvariant& invariant) { return invariant.name == name; });
}

bool Topology::holds(std::string_view invariant, const State& state) const {
  for (const NamedInvariant& known : invariants()) {
    if (known.name == invariant) return (this->*known.holds)(state);
  }
  MORULA_CHECK(false, "the spec has no such invariant");
}

bool Topology::nothing_lost(const State& s) const {
  if (!is_partition(s)) return true;
  for (int x = 0; x < points(); ++x) {
    const BatchId& last = s.last[static_cast<size_t>(x)];
    if (last.incarnation == 0 || s.record(last).deleted) continue;
    if (!reachable(s, x).contains(last)) return false;
  }
  return true;
}

bool Topology::nothing_returns(const State& s) const {
  if (!is_partition(s)) return true;
  for (int x = 0; x < points(); ++x) {
    const BatchId& last = s.last[static_cast<size_t>(x)];
    const Set<BatchId> records = reachable(s, x);
    for (const BatchId& id : records) {
      if (records.any([&](const BatchId& other) { return rank(s, other) > rank(s, id); })) continue;
      if (id != last && !(s.record(id).deleted && s.record(last).deleted)) return false;
    }
  }
  return true;
}

bool Topology::nothing_dangling(const State& s) const {
  for (const PrefixRow& row : s.rows) {
    const ClippedManifest& m = s.manifest(row.key);
    if (m.tables.any([&](const ClippedTable& t) { return !s.table(t.id).exists; })) return false;
    for (const ClippedEntry& e : m.logs) {
      const int end = e.to == kOpen ? s.of(e.incarnation).next() : e.to;
      for (int seq = e.from; seq < end; ++seq) {
        if (s.gone.contains({e.incarnation, seq})) return false;
      }
    }
  }
  return true;
}

bool Topology::rows_name_logs(const State& s) const {
  for (const PrefixRow& row : s.rows) {
    const auto missing = [&](const ClippedEntry& e) { return !row.logs.contains(e.incarnation); };
    if (s.manifest(row.key).logs.any(missing)) return false;
  }
  return true;
}

bool Topology::offsets_unique(const State& s) const {
  std::vector<std::pair<int, RowOffset>> seen;
  for (const TopologyIncarnation& i : s.incarnations) {
    for (const LoggedRow& row : i.log) seen.emplace_back(row.point, row.offset);
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

bool Topology::never_merged(const State& s) const {
  const PrefixRow* root = s.row({});
  if (root == nullptr || s.rows.size() != 1 || root->epoch < 2) return true;
  if (s.counts.splits == 0 || s.counts.merges == 0) return true;
  return !s.manifest(root->key).logs.any([](const ClippedEntry& e) { return e.clip.length != 0; });
}

bool Topology::never_apart(const State& s) const {
  const PrefixRow* left = s.row(HashPrefix{}.child(0));
  const PrefixRow* right = s.row(HashPrefix{}.child(1));
  return left == nullptr || right == nullptr || s.rows.size() != 2 || left->owner == right->owner ||
         s.counts.splits == 0;
}

bool Topology::never_marked(const State& s) const {
  return !s.rows.any([&](const PrefixRow& row) { return s.manifest(row.key).mark > 0; });
}

bool Topology::never_collected(const State& s) const {
  const bool table =
      std::any_of(s.tables.begin(), s.tables.end(), [](const SpecTable& t) { return !t.exists; });
  return !table ||
         !s.gone.any([&](const BatchId& id) { return s.of(id.incarnation).fenced_at != -1; });
}

}  // namespace morula::spec
