// What OwnershipLog.tla defines over its variables, and its invariants.
#include <algorithm>
#include <climits>

#include "core/base/check.hpp"
#include "invariants/spec/ownership_log.hpp"

namespace morula::spec {

void LogIncarnation::set_object(int seq, LogObject object) {
  const auto at = static_cast<size_t>(seq);
  if (at >= objects.size()) objects.resize(at + 1, LogObject::kNone);
  objects[at] = object;
  while (!objects.empty() && objects.back() == LogObject::kNone) objects.pop_back();
}

Set<LogEntry> closed_at(const Set<LogEntry>& logs, int incarnation, int end) {
  Set<LogEntry> closed;
  for (LogEntry e : logs) {
    if (e.incarnation == incarnation && e.to == kOpen) e.to = end;
    if (e.from < e.to) closed.insert(e);
  }
  return closed;
}

int OwnershipLogState::join() {
  incarnations.emplace_back();
  incarnations.back().serves.resize(topology.size());
  return incarnation_count();
}

void OwnershipLogState::seal(int key) {
  manifest(key).sealed = true;
  ++manifest(key).version;
}

void OwnershipLogState::void_requests(int key) {
  manifest_requests.erase_if([&](const ManifestRequest& h) { return h.key == key; });
}

int LogIncarnation::acknowledged() const {
  int seq = 0;
  while (seq < next() && batch(seq).landed) ++seq;
  return seq;
}

Set<BatchId> OwnershipLog::log_records(const State& s, const LogManifest& m, int shard) const {
  Set<BatchId> records;
  for (const LogEntry& e : m.logs) {
    const LogIncarnation& i = s.of(e.incarnation);
    for (int seq = e.from; seq < std::min(e.to, i.next()); ++seq) {
      if (i.batch(seq).shard == shard) records.insert({e.incarnation, seq});
    }
  }
  return records;
}

int OwnershipLog::tail_position(const LogIncarnation& i) const {
  const int highest = i.highest_object();
  if (highest < 0) return 0;
  int seq = std::max(0, highest - c_.window + 1);
  while (seq <= c_.max_seq && i.object(seq) == LogObject::kData) ++seq;
  return seq;
}

int OwnershipLog::first_gap(const LogIncarnation& i) const {
  int seq = 0;
  while (seq < i.highest_object() && i.object(seq) == LogObject::kNone) ++seq;
  while (seq <= c_.max_seq && i.object(seq) == LogObject::kData) ++seq;
  return seq;
}

bool OwnershipLog::nothing_beyond(const LogIncarnation& i, int fence) const {
  if (i.highest_object() > fence + c_.window - 1) return false;
  if (on(Switch::d_anyFence)) return true;
  for (int seq = fence + 1; seq <= i.highest_object(); ++seq) {
    if (i.object(seq) == LogObject::kFence) return false;
  }
  return true;
}

bool OwnershipLog::counts(const LogIncarnation& i, int fence) const {
  return i.object(fence) == LogObject::kFence &&
         (on(Switch::noSecondList) || nothing_beyond(i, fence));
}

Set<int> OwnershipLog::fence_positions(const LogIncarnation& i) const {
  Set<int> positions;
  if (on(Switch::d_firstGap)) {
    positions = {tail_position(i), first_gap(i)};
  } else if (!on(Switch::d_anyFence)) {
    for (int f = 0; f <= i.highest_object(); ++f) {
      if (i.object(f) == LogObject::kFence && nothing_beyond(i, f)) positions.insert(f);
    }
  }
  if (positions.empty()) positions.insert(tail_position(i));
  positions.erase_if([&](int f) { return f > c_.max_seq; });
  return positions;
}

Set<int> OwnershipLog::own_positions(const State& s, int incarnation) const {
  const LogIncarnation& own = s.of(incarnation);
  if (on(Switch::ownTooHigh)) return {own.next() + 1};
  if (on(Switch::ownTooLow)) return {0};
  if (!on(Switch::d_posAcked)) return {own.next()};
  Set<int> positions;  // acknowledged as far as it has heard
  for (int q = std::max(0, own.next() - c_.window); q <= own.acknowledged(); ++q) {
    positions.insert(q);
  }
  return positions;
}

Set<int> OwnershipLog::pins(const State& s, int incarnation) const {
  Set<int> pins;
  const auto pin = [&](const Set<LogEntry>& logs) {
    for (const LogEntry& e : logs) {
      if (e.incarnation == incarnation) pins.insert(e.from);
    }
  };
  if (!on(Switch::d_noPin)) {
    for (const ManifestRequest& g : s.manifest_requests) {
      if (g.by == incarnation) pin(g.logs);
    }
    for (const TopologyRequest& g : s.topology_requests) {
      if (g.by != incarnation) continue;
      for (const PublishedRow& row : g.rows) pin(s.manifest(row.key).logs);
    }
  }
  for (const Promise& r : s.promises) {
    if (r.by == incarnation && r.pinned && r.version >= s.topology_version) pins.insert(r.position);
  }
  return pins;
}

int OwnershipLog::trim_bound(const State& s, int incarnation) const {
  Set<int> keys;
  Set<int> own_keys;
  for (int x = 1; x <= s.shard_count(); ++x) {
    keys.insert(s.row(x).key);
    if (s.serves(incarnation, x) != 0) own_keys.insert(s.serves(incarnation, x));
  }
  keys.insert(own_keys);
  const auto add = [&](Set<int>& to, const Set<LogEntry>& logs) {
    for (const LogEntry& e : logs) {
      if (e.incarnation == incarnation) to.insert(e.from);
    }
  };
  Set<int> froms;
  Set<int> flushing;
  for (const ManifestRequest& g : s.manifest_requests) {
    if (!on(Switch::trimEarly) || g.by != incarnation || !own_keys.contains(g.key)) continue;
    flushing.insert(g.key);
    add(froms, g.logs);
  }
  for (const int key : keys) {
    if (!flushing.contains(key)) add(froms, s.manifest(key).logs);
  }
  if (flushing.empty()) froms.insert(pins(s, incarnation));
  return froms.empty() ? s.of(incarnation).acknowledged() : froms.lowest();
}

int OwnershipLog::trim_candidate(const State& s, int incarnation, int bound) const {
  const LogIncarnation& own = s.of(incarnation);
  int seq = 0;
  while (own.object(seq) != LogObject::kData) {
    if (++seq > own.highest_object()) return -1;
  }
  if (seq >= bound || seq >= own.acknowledged()) return -1;
  int above = 0;
  for (int later = seq + 1; later < own.next(); ++later) above += own.batch(later).landed ? 1 : 0;
  return above >= c_.keep ? seq : -1;
}

Set<int> OwnershipLog::owned_by(const State& s, int incarnation) const {
  Set<int> shards;
  for (int x = 1; x <= s.shard_count(); ++x) {
    if (s.row(x).owner == incarnation) shards.insert(x);
  }
  return shards;
}

int OwnershipLog::last_position(const LogIncarnation& i) const {
  if (c_.max_seq != INT_MAX) return c_.max_seq;
  return std::max(i.next(), i.highest_object()) + c_.window;
}

bool OwnershipLog::acknowledged(const LogIncarnation& i, int seq) const {
  return on(Switch::ackOutOfOrder) ? i.batch(seq).landed : seq < i.acknowledged();
}

int OwnershipLog::batches_sent(const State& s) const {
  int batches = 0;
  for (const LogIncarnation& i : s.incarnations) batches += i.next();
  return batches;
}

bool OwnershipLog::waits_for_topology(const State& s, int incarnation, int shard) const {
  return s.topology_requests.any(
      [&](const TopologyRequest& g) { return g.by == incarnation && g.about(shard); });
}

struct OwnershipLog::NamedInvariant {
  std::string_view name;
  bool (OwnershipLog::*holds)(const State&) const;
};

const std::vector<OwnershipLog::NamedInvariant>& OwnershipLog::invariants() {
  static const std::vector<NamedInvariant> kInvariants = {
      {"D", &OwnershipLog::nothing_lost},
      {"X", &OwnershipLog::nothing_dangling},
      {"U", &OwnershipLog::offsets_unique},
      {"F", &OwnershipLog::fences_count},
      {"S", &OwnershipLog::one_server},
      {"NeverTakenOver", &OwnershipLog::never_taken_over},
      {"NeverHandedOff", &OwnershipLog::never_handed_off},
      {"NeverTrimmed", &OwnershipLog::never_trimmed},
      {"NeverCollected", &OwnershipLog::never_collected},
      {"NeverTwoFences", &OwnershipLog::never_two_fences},
  };
  return kInvariants;
}

bool OwnershipLog::has_invariant(std::string_view name) {
  return std::any_of(invariants().begin(), invariants().end(),
                     [&](const NamedInvariant& invariant) { return invariant.name == name; });
}

bool OwnershipLog::holds(std::string_view invariant, const State& state) const {
  for (const NamedInvariant& known : invariants()) {
    if (known.name == invariant) return (this->*known.holds)(state);
  }
  MORULA_CHECK(false, "the spec has no such invariant");
}

bool OwnershipLog::nothing_lost(const State& s) const {
  for (int i = 1; i <= s.incarnation_count(); ++i) {
    const LogIncarnation& own = s.of(i);
    for (int seq = 0; seq < own.next(); ++seq) {
      if (!acknowledged(own, seq)) continue;
      const LogManifest& m = s.named(own.batch(seq).shard);
      if (m.tables.contains({i, seq})) continue;
      if (own.object(seq) != LogObject::kData) return false;
      const auto names = [&](const LogEntry& e) { return e.incarnation == i && e.holds(seq); };
      if (!m.logs.any(names)) return false;
    }
  }
  return true;
}

bool OwnershipLog::nothing_dangling(const State& s) const {
  for (int x = 1; x <= s.shard_count(); ++x) {
    for (const LogEntry& e : s.named(x).logs) {
      const LogIncarnation& i = s.of(e.incarnation);
      // Of an open one, up to the first batch that never landed.
      const int end = e.to == kOpen ? i.acknowledged() : e.to;
      for (int seq = e.from; seq < end; ++seq) {
        if (i.object(seq) != LogObject::kData) return false;
      }
    }
  }
  return true;
}

bool OwnershipLog::offsets_unique(const State& s) const {
  std::vector<std::pair<int, int>> seen;
  for (const LogIncarnation& i : s.incarnations) {
    for (int seq = 0; seq < i.next(); ++seq) {
      if (acknowledged(i, seq)) seen.emplace_back(i.batch(seq).shard, i.batch(seq).offset);
    }
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

bool OwnershipLog::one_server(const State& s) const {
  for (int x = 1; x <= s.shard_count(); ++x) {
    int servers = 0;
    for (int i = 1; i <= s.incarnation_count(); ++i) servers += s.serves(i, x) != 0 ? 1 : 0;
    if (servers > 1) return false;
  }
  return true;
}

bool OwnershipLog::fences_count(const State& s) const {
  if (s.collector.at == LogCollector::At::kJudged &&
      s.of(s.collector.of).acknowledged() > s.collector.fence) {
    return false;
  }
  for (const LogIncarnation& j : s.incarnations) {
    if (j.taking.at != Taking::At::kFenced) continue;
    const LogIncarnation& i = s.of(j.taking.from);
    const int f = j.taking.fence;
    if (i.acknowledged() > f || (f < i.next() && i.batch(f).landed)) return false;
  }
  return true;
}

bool OwnershipLog::never_moved(const State& s, int times) const {
  for (int x = 1; x <= s.shard_count(); ++x) {
    const auto [epoch, owner, key] = s.row(x);
    const bool serves = s.serves(owner, x) == key && s.of(owner).acknowledged() > 0;
    if (times > 0 && serves && owner != c_.first_owners[static_cast<size_t>(x - 1)]) return false;
  }
  return true;
}

bool OwnershipLog::never_trimmed(const State& s) const {
  if (s.collector.at != LogCollector::At::kIdle) return true;
  for (const LogIncarnation& i : s.incarnations) {
    for (int seq = 0; seq < i.next(); ++seq) {
      if (i.batch(seq).landed && i.object(seq) == LogObject::kNone) return false;
    }
  }
  return true;
}

bool OwnershipLog::never_collected(const State& s) const {
  if (s.collector.at != LogCollector::At::kDelete) return true;
  const LogIncarnation& i = s.of(s.collector.of);
  for (int seq = 0; seq < i.next(); ++seq) {
    if (i.batch(seq).landed && i.object(seq) == LogObject::kNone) return false;
  }
  return true;
}

bool OwnershipLog::never_two_fences(const State& s) const {
  for (const LogIncarnation& i : s.incarnations) {
    if (std::count(i.objects.begin(), i.objects.end(), LogObject::kFence) > 1) return false;
  }
  return true;
}

}  // namespace morula::spec
