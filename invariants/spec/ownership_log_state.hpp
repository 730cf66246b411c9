// What OwnershipLog.tla's variables hold. Incarnations, shards and manifest keys are numbers
// from 1.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "invariants/spec/batch.hpp"
#include "invariants/spec/values.hpp"

namespace morula::spec {

/// A manifest's entry of a log: its batches from `from` to before `to` belong to the shard.
struct LogEntry {
  int incarnation = 0;
  int from = 0;
  int to = kOpen;
  static constexpr auto kFields =
      std::tuple(&LogEntry::incarnation, &LogEntry::from, &LogEntry::to);
  auto operator<=>(const LogEntry&) const = default;

  bool holds(int seq) const { return from <= seq && seq < to; }
};

/// The incarnation's open entries end at `end`; those that are empty then are dropped.
Set<LogEntry> closed_at(const Set<LogEntry>& logs, int incarnation, int end);

struct LogManifest {
  int version = 0;
  bool sealed = false;
  Set<BatchId> tables;  // the records that its tables hold
  Set<LogEntry> logs;
  static constexpr auto kFields = std::tuple(&LogManifest::version, &LogManifest::sealed,
                                             &LogManifest::tables, &LogManifest::logs);
  bool operator==(const LogManifest&) const = default;

  /// The incarnation's entry is open in it.
  bool open_for(int incarnation) const {
    return logs.any(
        [&](const LogEntry& e) { return e.incarnation == incarnation && e.to == kOpen; });
  }
};

/// A shard as the topology names it.
struct ShardRow {
  int epoch = 0;
  int owner = 0;
  int key = 0;
  static constexpr auto kFields = std::tuple(&ShardRow::epoch, &ShardRow::owner, &ShardRow::key);
  bool operator==(const ShardRow&) const = default;
};

struct NamedShard {
  int shard = 0;
  int key = 0;
  static constexpr auto kFields = std::tuple(&NamedShard::shard, &NamedShard::key);
  auto operator<=>(const NamedShard&) const = default;
};

/// A flush's CAS of a manifest that can still land.
struct ManifestRequest {
  int by = 0;
  int key = 0;
  int base = 0;  // the version that it replaces
  int shard = 0;
  Set<BatchId> tables;
  Set<LogEntry> logs;
  static constexpr auto kFields =
      std::tuple(&ManifestRequest::by, &ManifestRequest::key, &ManifestRequest::base,
                 &ManifestRequest::shard, &ManifestRequest::tables, &ManifestRequest::logs);
  auto operator<=>(const ManifestRequest&) const = default;
};

struct PublishedRow {
  int shard = 0;
  int key = 0;
  int epoch = 0;
  int owner = 0;
  static constexpr auto kFields = std::tuple(&PublishedRow::shard, &PublishedRow::key,
                                             &PublishedRow::epoch, &PublishedRow::owner);
  auto operator<=>(const PublishedRow&) const = default;
};

/// A CAS of the topology that can still land.
struct TopologyRequest {
  int by = 0;
  int base = 0;
  Set<PublishedRow> rows;
  static constexpr auto kFields =
      std::tuple(&TopologyRequest::by, &TopologyRequest::base, &TopologyRequest::rows);
  auto operator<=>(const TopologyRequest&) const = default;

  bool about(int shard) const {
    return rows.any([&](const PublishedRow& row) { return row.shard == shard; });
  }
};

/// What lies at a log position.
enum class LogObject : uint8_t { kNone, kData, kFence };

struct SentBatch {
  int shard = 0;
  int offset = 0;
  bool landed = false;  // at least once; it may have been deleted since
  static constexpr auto kFields =
      std::tuple(&SentBatch::shard, &SentBatch::offset, &SentBatch::landed);
  bool operator==(const SentBatch&) const = default;
};

/// A fence under way, for a takeover or for a collector.
struct Taking {
  enum class At : uint8_t { kIdle, kList, kPut, kCheck, kFenced, kSeal };
  At at = At::kIdle;
  int from = 0;            // the incarnation whose log is fenced
  int fence = 0;           // where
  int version = 0;         // of the topology, on which the CAS will be based
  bool collector = false;  // only the fence is wanted
  Set<NamedShard> rows;    // to be taken over
  Set<int> to_seal;
  int pinned = 0;  // mutant kPinBeforeSeal: the position taken too early
  static constexpr auto kFields =
      std::tuple(&Taking::at, &Taking::from, &Taking::fence, &Taking::version, &Taking::collector,
                 &Taking::rows, &Taking::to_seal, &Taking::pinned);
  bool operator==(const Taking&) const = default;
};

/// A handoff under way, at the giver.
struct Handing {
  enum class At : uint8_t { kIdle, kAsked, kSealed, kStopped, kSent };
  At at = At::kIdle;
  int shard = 0;
  int to = 0;
  int version = 0;
  int key = 0;
  int attempt = 0;
  static constexpr auto kFields = std::tuple(&Handing::at, &Handing::shard, &Handing::to,
                                             &Handing::version, &Handing::key, &Handing::attempt);
  bool operator==(const Handing&) const = default;
};

/// A trim in steps.
struct Trimming {
  enum class At : uint8_t { kIdle, kNoted, kReadTopology, kDelete };
  At at = At::kIdle;
  int bound = 0;
  Set<int> keys;
  static constexpr auto kFields = std::tuple(&Trimming::at, &Trimming::bound, &Trimming::keys);
  bool operator==(const Trimming&) const = default;
};

struct LogIncarnation {
  std::vector<SentBatch> sent;
  std::vector<LogObject> objects;  // by position; nothing lies beyond the last
  std::vector<int> serves;         // by shard - 1: the manifest that it serves it from, or 0
  bool stopped = false;            // cleanly
  Taking taking;
  Handing handing;
  Trimming trimming;
  static constexpr auto kFields =
      std::tuple(&LogIncarnation::sent, &LogIncarnation::objects, &LogIncarnation::serves,
                 &LogIncarnation::stopped, &LogIncarnation::taking, &LogIncarnation::handing,
                 &LogIncarnation::trimming);
  bool operator==(const LogIncarnation&) const = default;

  LogObject object(int seq) const {
    const auto at = static_cast<size_t>(seq);
    return at < objects.size() ? objects[at] : LogObject::kNone;
  }
  void set_object(int seq, LogObject object);
  /// -1 when there is none.
  int highest_object() const { return static_cast<int>(objects.size()) - 1; }
  int next() const { return static_cast<int>(sent.size()); }
  /// Every batch below it has landed, it has not.
  int acknowledged() const;
  const SentBatch& batch(int seq) const { return sent[static_cast<size_t>(seq)]; }
};

/// A position that a receiver has promised as the start of its entry.
struct Promise {
  int attempt = 0;
  int by = 0;
  int position = 0;
  int version = 0;
  bool pinned = false;
  static constexpr auto kFields = std::tuple(&Promise::attempt, &Promise::by, &Promise::position,
                                             &Promise::version, &Promise::pinned);
  auto operator<=>(const Promise&) const = default;
};

struct LogCollector {
  enum class At : uint8_t { kIdle, kJudged, kReadTopology, kDelete };
  At at = At::kIdle;
  int of = 0;  // the incarnation whose log is collected
  int fence = 0;
  Set<int> keys;
  Set<int> named;  // positions
  static constexpr auto kFields =
      std::tuple(&LogCollector::at, &LogCollector::of, &LogCollector::fence, &LogCollector::keys,
                 &LogCollector::named);
  bool operator==(const LogCollector&) const = default;
};

/// How often something was begun; the configurations bound it.
struct LogCounts {
  int takeovers = 0;
  int handoffs = 0;
  int flushes = 0;
  int collections = 0;
  int fences = 0;  // by collectors and by clean stops
  int reopens = 0;
  static constexpr auto kFields =
      std::tuple(&LogCounts::takeovers, &LogCounts::handoffs, &LogCounts::flushes,
                 &LogCounts::collections, &LogCounts::fences, &LogCounts::reopens);
  bool operator==(const LogCounts&) const = default;
};

struct OwnershipLogState {
  /// A new incarnation; returns its number. (Those of a configuration are there from the
  /// beginning.)
  int join();
  int incarnation_count() const { return static_cast<int>(incarnations.size()); }
  int shard_count() const { return static_cast<int>(topology.size()); }
  void seal(int key);
  /// Requests for the manifest can land no more.
  void void_requests(int key);

  std::vector<LogIncarnation> incarnations;
  int topology_version = 0;
  std::vector<ShardRow> topology;      // by shard - 1
  std::vector<LogManifest> manifests;  // by key - 1
  Set<ManifestRequest> manifest_requests;
  Set<TopologyRequest> topology_requests;
  LogCollector collector;
  Set<Promise> promises;
  LogCounts counts;
  static constexpr auto kFields = std::tuple(
      &OwnershipLogState::incarnations, &OwnershipLogState::topology_version,
      &OwnershipLogState::topology, &OwnershipLogState::manifests,
      &OwnershipLogState::manifest_requests, &OwnershipLogState::topology_requests,
      &OwnershipLogState::collector, &OwnershipLogState::promises, &OwnershipLogState::counts);
  bool operator==(const OwnershipLogState&) const = default;

  LogIncarnation& of(int i) { return incarnations[static_cast<size_t>(i - 1)]; }
  const LogIncarnation& of(int i) const { return incarnations[static_cast<size_t>(i - 1)]; }
  ShardRow& row(int shard) { return topology[static_cast<size_t>(shard - 1)]; }
  const ShardRow& row(int shard) const { return topology[static_cast<size_t>(shard - 1)]; }
  LogManifest& manifest(int key) { return manifests[static_cast<size_t>(key - 1)]; }
  const LogManifest& manifest(int key) const { return manifests[static_cast<size_t>(key - 1)]; }
  /// The manifest that the topology names for the shard.
  const LogManifest& named(int shard) const { return manifest(row(shard).key); }
  int serves(int i, int shard) const { return of(i).serves[static_cast<size_t>(shard - 1)]; }
  void serve(int i, int shard, int key) { of(i).serves[static_cast<size_t>(shard - 1)] = key; }
};

}  // namespace morula::spec
