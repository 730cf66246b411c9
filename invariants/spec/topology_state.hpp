// What Topology.tla's variables hold. Incarnations, manifest keys and table ids are numbers from 1.
#pragma once

#include <climits>
#include <cstdint>
#include <tuple>
#include <vector>

#include "invariants/spec/batch.hpp"
#include "invariants/spec/values.hpp"

namespace morula::spec {

/// The part of the hash space whose points begin with `length` bits of value `bits`. The spec
/// writes "r", "0" and "1".
struct HashPrefix {
  int length = 0;
  int bits = 0;
  static constexpr auto kFields = std::tuple(&HashPrefix::length, &HashPrefix::bits);
  auto operator<=>(const HashPrefix&) const = default;

  HashPrefix child(int bit) const { return {length + 1, bits * 2 + bit}; }
  bool contains(const HashPrefix& inner) const {
    return inner.length >= length && inner.bits >> (inner.length - length) == bits;
  }
  bool meets(const HashPrefix& other) const { return contains(other) || other.contains(*this); }
  /// What both have in common; requires that they meet.
  HashPrefix narrowed(const HashPrefix& other) const { return contains(other) ? other : *this; }
};

/// Generation 0 with change 0: never written. Change 0 of a generation: gone, the next is higher.
struct RowOffset {
  int generation = 0;
  int change = 0;
  static constexpr auto kFields = std::tuple(&RowOffset::generation, &RowOffset::change);
  auto operator<=>(const RowOffset&) const = default;
};

/// A record of a log: a put or a delete of the stream at a point.
struct LoggedRow {
  int point = 0;
  bool deleted = false;
  RowOffset offset;
  static constexpr auto kFields =
      std::tuple(&LoggedRow::point, &LoggedRow::deleted, &LoggedRow::offset);
  bool operator==(const LoggedRow&) const = default;
};

struct ClippedEntry {
  HashPrefix clip;
  int incarnation = 0;
  int from = 0;
  int to = kOpen;
  static constexpr auto kFields = std::tuple(&ClippedEntry::clip, &ClippedEntry::incarnation,
                                             &ClippedEntry::from, &ClippedEntry::to);
  auto operator<=>(const ClippedEntry&) const = default;
};

struct ClippedTable {
  int id = 0;
  HashPrefix clip;
  static constexpr auto kFields = std::tuple(&ClippedTable::id, &ClippedTable::clip);
  auto operator<=>(const ClippedTable&) const = default;
};

struct ClippedManifest {
  int version = 0;
  bool sealed = false;
  Set<ClippedTable> tables;
  Set<ClippedEntry> logs;
  int mark = 0;  // the highest generation that was dropped
  static constexpr auto kFields =
      std::tuple(&ClippedManifest::version, &ClippedManifest::sealed, &ClippedManifest::tables,
                 &ClippedManifest::logs, &ClippedManifest::mark);
  bool operator==(const ClippedManifest&) const = default;

  bool open_for(int incarnation) const {
    return logs.any(
        [&](const ClippedEntry& e) { return e.incarnation == incarnation && e.to == kOpen; });
  }
};

struct SpecTable {
  Set<BatchId> records;
  int by = 0;
  bool exists = true;
  static constexpr auto kFields =
      std::tuple(&SpecTable::records, &SpecTable::by, &SpecTable::exists);
  bool operator==(const SpecTable&) const = default;
};

/// A row of the topology.
struct PrefixRow {
  HashPrefix prefix;
  int epoch = 0;
  int owner = 0;
  int key = 0;
  Set<int> logs;  // incarnations that the manifest names
  static constexpr auto kFields = std::tuple(&PrefixRow::prefix, &PrefixRow::epoch,
                                             &PrefixRow::owner, &PrefixRow::key, &PrefixRow::logs);
  auto operator<=>(const PrefixRow&) const = default;
};

/// A flush's or a compaction's CAS of a manifest that can still land.
struct ClippedManifestRequest {
  int by = 0;
  int key = 0;
  int base = 0;
  int mark = 0;
  Set<ClippedTable> tables;
  Set<ClippedEntry> logs;
  static constexpr auto kFields =
      std::tuple(&ClippedManifestRequest::by, &ClippedManifestRequest::key,
                 &ClippedManifestRequest::base, &ClippedManifestRequest::mark,
                 &ClippedManifestRequest::tables, &ClippedManifestRequest::logs);
  auto operator<=>(const ClippedManifestRequest&) const = default;
};

/// A CAS of the topology that can still land.
struct PrefixRequest {
  int by = 0;
  int base = 0;
  Set<HashPrefix> removes;
  bool handoff = false;
  Set<PrefixRow> adds;
  static constexpr auto kFields =
      std::tuple(&PrefixRequest::by, &PrefixRequest::base, &PrefixRequest::removes,
                 &PrefixRequest::handoff, &PrefixRequest::adds);
  auto operator<=>(const PrefixRequest&) const = default;
};

struct ServedPrefix {
  HashPrefix prefix;
  int key = 0;
  static constexpr auto kFields = std::tuple(&ServedPrefix::prefix, &ServedPrefix::key);
  auto operator<=>(const ServedPrefix&) const = default;
};

/// A handoff at its giver, between the seal and the CAS.
struct PrefixHanding {
  bool sealed = false;  // one is under way
  HashPrefix prefix;
  int key = 0;
  int version = 0;
  int to = 0;
  int position = 0;
  static constexpr auto kFields =
      std::tuple(&PrefixHanding::sealed, &PrefixHanding::prefix, &PrefixHanding::key,
                 &PrefixHanding::version, &PrefixHanding::to, &PrefixHanding::position);
  bool operator==(const PrefixHanding&) const = default;
};

struct TopologyIncarnation {
  std::vector<LoggedRow> log;
  int fenced_at = -1;
  Set<ServedPrefix> serves;        // by its view, which may be old
  std::vector<RowOffset> highest;  // by point: recovered or given
  PrefixHanding handing;
  static constexpr auto kFields = std::tuple(
      &TopologyIncarnation::log, &TopologyIncarnation::fenced_at, &TopologyIncarnation::serves,
      &TopologyIncarnation::highest, &TopologyIncarnation::handing);
  bool operator==(const TopologyIncarnation&) const = default;

  int next() const { return static_cast<int>(log.size()); }
};

/// A position that a receiver has promised and pinned.
struct PrefixPromise {
  int by = 0;
  int position = 0;
  int version = 0;
  static constexpr auto kFields =
      std::tuple(&PrefixPromise::by, &PrefixPromise::position, &PrefixPromise::version);
  auto operator<=>(const PrefixPromise&) const = default;
};

struct NamedManifest {
  int key = 0;
  Set<int> logs;  // of its row
  static constexpr auto kFields = std::tuple(&NamedManifest::key, &NamedManifest::logs);
  auto operator<=>(const NamedManifest&) const = default;
};

struct TableCollector {
  enum class At : uint8_t { kIdle, kListed, kReadTopology, kDelete };
  At at = At::kIdle;
  Set<int> candidates;      // tables
  Set<int> fenced;          // incarnations
  std::vector<int> floors;  // by incarnation - 1
  Set<NamedManifest> keys;
  Set<int> owners;
  Set<int> named_tables;
  Set<BatchId> named_logs;
  static constexpr auto kFields =
      std::tuple(&TableCollector::at, &TableCollector::candidates, &TableCollector::fenced,
                 &TableCollector::floors, &TableCollector::keys, &TableCollector::owners,
                 &TableCollector::named_tables, &TableCollector::named_logs);
  bool operator==(const TableCollector&) const = default;
};

struct TopologyCounts {
  int takeovers = 0;
  int handoffs = 0;
  int splits = 0;
  int merges = 0;
  int reopens = 0;
  int flushes = 0;
  int compactions = 0;
  int collections = 0;
  static constexpr auto kFields =
      std::tuple(&TopologyCounts::takeovers, &TopologyCounts::handoffs, &TopologyCounts::splits,
                 &TopologyCounts::merges, &TopologyCounts::reopens, &TopologyCounts::flushes,
                 &TopologyCounts::compactions, &TopologyCounts::collections);
  bool operator==(const TopologyCounts&) const = default;
};

struct TopologyState {
  std::vector<TopologyIncarnation> incarnations;
  Set<BatchId> gone;  // log objects that were deleted
  int version = 0;
  Set<PrefixRow> rows;
  std::vector<ClippedManifest> manifests;  // by key - 1
  std::vector<SpecTable> tables;           // by id - 1
  Set<ClippedManifestRequest> manifest_requests;
  Set<PrefixRequest> topology_requests;
  std::vector<BatchId> last;  // by point: the newest acknowledged; incarnation 0: none
  TableCollector collector;
  Set<PrefixPromise> promises;
  TopologyCounts counts;
  static constexpr auto kFields = std::tuple(
      &TopologyState::incarnations, &TopologyState::gone, &TopologyState::version,
      &TopologyState::rows, &TopologyState::manifests, &TopologyState::tables,
      &TopologyState::manifest_requests, &TopologyState::topology_requests, &TopologyState::last,
      &TopologyState::collector, &TopologyState::promises, &TopologyState::counts);
  bool operator==(const TopologyState&) const = default;

  /// A new incarnation; returns its number. (Those of a configuration are there from the
  /// beginning.)
  int join() {
    incarnations.emplace_back();
    incarnations.back().highest.resize(last.size());
    return incarnation_count();
  }
  int incarnation_count() const { return static_cast<int>(incarnations.size()); }
  TopologyIncarnation& of(int i) { return incarnations[static_cast<size_t>(i - 1)]; }
  const TopologyIncarnation& of(int i) const { return incarnations[static_cast<size_t>(i - 1)]; }
  ClippedManifest& manifest(int key) { return manifests[static_cast<size_t>(key - 1)]; }
  const ClippedManifest& manifest(int key) const { return manifests[static_cast<size_t>(key - 1)]; }
  const SpecTable& table(int id) const { return tables[static_cast<size_t>(id - 1)]; }
  const LoggedRow& record(const BatchId& id) const {
    return of(id.incarnation).log[static_cast<size_t>(id.seq)];
  }
  /// Nullptr: the topology has no such row.
  const PrefixRow* row(const HashPrefix& prefix) const {
    for (const PrefixRow& row : rows) {
      if (row.prefix == prefix) return &row;
    }
    return nullptr;
  }
  /// Nullptr: the incarnation does not serve it.
  const ServedPrefix* serves(int i, const HashPrefix& prefix) const {
    for (const ServedPrefix& served : of(i).serves) {
      if (served.prefix == prefix) return &served;
    }
    return nullptr;
  }
};

}  // namespace morula::spec
