// This folder holds what the code does to the executable specs (invariants/spec), step by step:
// SpecSteps hears what happens, projects the cell as it is at that moment onto a state of a spec,
// asks whether the spec's action can be taken there, takes it, and compares. What a projection
// leaves out stands at its head.
//
// SeenCell is what the projections are made from: the cell as somebody sees it who sees every
// request and every object. It judges nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/lsm/manifest.hpp"
#include "core/topology/topology.hpp"
#include "invariants/object_view.hpp"
#include "invariants/spec/ownership_log_state.hpp"

namespace morula::invariants::twin {

/// Tells collectors apart that run at the same time.
using CollectorId = uint64_t;

/// An incarnation and its log.
struct SeenLog {
  IncarnationId id;
  int number = 0;       // of the incarnation, from 1
  uint64_t sent = 0;    // one past the highest seq that was sent
  uint64_t placed = 0;  // one past the highest seq that was given to a record
  uint64_t landed = 0;  // all below has landed at least once
  std::set<uint64_t> landed_above;
  std::map<uint64_t, spec::LogObject> objects;  // that lie there now
  std::set<uint64_t> fences;
  std::set<uint64_t> fences_counted;          // fences that counted at some moment
  std::map<int, uint64_t> fenced_by;          // takers, and the fence that each took to count
  bool stopped = false;                       // its own FENCE was sent
  std::map<StreamId, uint64_t> last_records;  // the seq of each stream's last record
  /// What it may serve, by manifest key: what the topology last named it for, and what it has not
  /// given away since.
  std::map<Prefix, std::string> serves;

  bool has_landed(uint64_t seq) const { return seq < landed || landed_above.contains(seq); }
  /// Where the next own entry may begin: below lies what was sent, above what was given to records.
  uint64_t next_lowest() const { return sent; }
  uint64_t next_highest() const { return std::max(sent, placed); }
  const std::string* served_key(Prefix shard) const;
  bool may_serve(StreamId stream) const;
  /// Whether a record of the shard was given a seq at or above `seq`.
  bool has_record_at(Prefix shard, uint64_t seq) const;
};

/// A swap of a manifest that can still land.
struct SentManifest {
  int by = 0;
  std::string key;
  std::shared_ptr<const Manifest> content;
};

/// A swap of the topology that can still land.
struct SentTopology {
  int by = 0;
  std::shared_ptr<const Topology> content;
  std::vector<Prefix> given_away;  // those of `by` that it gives to another
};

/// A position that a receiver has promised.
struct SeenPromise {
  int by = 0;
  Prefix shard;
  uint64_t position = 0;
  Version base;  // of the ask
  uint64_t attempt = 0;
};

class SeenCell {
 public:
  uint64_t window() const { return window_; }
  void set_window(uint64_t window) { window_ = window; }

  /// Null when `text` names no incarnation. The pointer stays valid.
  SeenLog* log(std::string_view text);
  SeenLog& log(const IncarnationId& id);
  SeenLog& log(int number) { return *logs_[static_cast<size_t>(number - 1)]; }
  const SeenLog& log(int number) const { return *logs_[static_cast<size_t>(number - 1)]; }

  /// Null before there is one.
  const Topology* topology() const { return topology_.get(); }
  /// Null: not seen, or deleted.
  const Manifest* manifest(const std::string& key) const;
  /// Those that the topology names.
  template <class Call>
  void each_named(Call call) const {
    if (!topology_) return;
    for (const TopologyShard& row : topology_->shards) {
      if (const Manifest* named = manifest(row.manifest)) call(row, *named);
    }
  }

  const std::vector<SentManifest>& sent_manifests() const { return sent_manifests_; }
  const std::vector<SentTopology>& sent_topologies() const { return sent_topologies_; }
  const std::vector<SeenPromise>& promises() const { return promises_; }
  bool waits_for_topology(int by, Prefix shard) const;

  void sent(SentManifest request) { sent_manifests_.push_back(std::move(request)); }
  void sent(SentTopology request);
  void promised(const SeenPromise& promise) { promises_.push_back(promise); }
  /// Requests on its base are void from now on.
  void landed(const std::string& key, std::shared_ptr<const Manifest> content);
  void landed(std::shared_ptr<const Topology> content);
  void removed_manifest(const std::string& key) { manifests_.erase(key); }
  /// A collector asks for the topology: it goes by the present one, or one that lands later.
  void collector_asks(CollectorId collector) { readings_[collector] = {topology_}; }
  /// Whether all that the collector may have read last name `incarnation` as an owner. Of one that
  /// was not heard asking: whether the present one does.
  bool is_owner_to(CollectorId collector, const IncarnationId& incarnation) const;

 private:
  void serve_named(const Topology& before);

  uint64_t window_ = 1;
  std::map<std::string, std::unique_ptr<SeenLog>, std::less<>> by_text_;
  std::map<IncarnationId, SeenLog*> by_id_;
  std::vector<SeenLog*> logs_;
  std::shared_ptr<const Topology> topology_;
  std::map<std::string, std::shared_ptr<const Manifest>, std::less<>> manifests_;
  std::vector<SentManifest> sent_manifests_;
  std::vector<SentTopology> sent_topologies_;
  std::vector<SeenPromise> promises_;
  /// What each collector may have read when it last asked.
  std::map<CollectorId, std::vector<std::shared_ptr<const Topology>>> readings_;
};

}  // namespace morula::invariants::twin
