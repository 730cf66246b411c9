// Invariant 6, the part that nothing dangles: whatever the topology names, through its manifests,
// exists at every moment: manifests, tables, closed log ranges to their ends, and of open ones all
// that was acknowledged. It is checked when a document that names changes and when an object goes,
// so no moment is missed.
//
// Rules of ownership that are seen in the same documents are checked here too: a manifest leaves
// the topology only sealed (OWNERSHIP R0), a row of the topology lists every log that its manifest
// names (R7 relies on it), a fence counts only if nothing lies a window beyond it (R3a), and trim
// spares the last W landed objects and every FENCE (R7, R8).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/lsm/manifest.hpp"
#include "core/rt/store.hpp"
#include "core/topology/topology.hpp"
#include "invariants/decoded_documents.hpp"
#include "invariants/object_view.hpp"
#include "invariants/topology_steps.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class Reachable {
 public:
  Reachable(const ObjectView& objects, DecodedDocuments& documents, Violations& violations);

  /// An object was written or swapped.
  void written(std::string_view key, Duration now);
  /// An object is gone, deleted for `purpose`.
  void removed(std::string_view key, Purpose purpose, Duration now);
  /// `taker` takes a FENCE there for one that counts.
  void fenced(const IncarnationId& incarnation, LogSeq seq, std::string_view taker, Duration now);
  /// All below `position` of that log is acknowledged.
  void acknowledged(const IncarnationId& incarnation, LogSeq position);
  /// Everything, at once.
  void check_all(Duration now);

  /// Whether this place of a log can be reached for this stream: the manifest that the topology
  /// names for it names it, or once named it in a range that was closed, so that the next owner has
  /// read it and holds it in its tables by now.
  bool names(StreamId stream, const IncarnationId& incarnation, LogSeq seq) const;
  /// Whether this log object was there and has been collected as garbage.
  bool was_collected(const IncarnationId& incarnation, LogSeq seq) const {
    return collected_.contains({incarnation, seq});
  }
  /// Who owns the stream's shard, and what its manifest names: for messages.
  std::string describe(StreamId stream) const;
  /// Null before there is a topology.
  const Topology* topology() const { return topology_.get(); }

 private:
  void read_topology(Duration now);
  void read_manifest(const std::string& key, Duration now);
  void check_sealed(const std::string& key, Duration now);
  void check_manifest(const std::string& key, const Manifest& manifest, Duration now);
  void check_row(const std::string& key, const Manifest& manifest, Duration now);
  void check_log(const std::string& key, const ManifestLog& log, Duration now);
  void log_written(std::string_view key);
  void log_removed(std::string_view key, Purpose purpose, Duration now);
  bool has_fence(const IncarnationId& incarnation) const;
  void check_window(std::string_view key, const IncarnationId& incarnation, LogSeq seq,
                    Duration now);

  const ObjectView& objects_;
  DecodedDocuments& documents_;
  Violations& violations_;
  TopologySteps steps_;
  std::shared_ptr<const Topology> topology_;
  /// Those that the topology names.
  std::map<std::string, std::shared_ptr<const Manifest>, std::less<>> manifests_;
  std::map<IncarnationId, std::vector<ManifestLog>> closed_;  // ranges that were ever named so
  std::map<IncarnationId, LogSeq> acknowledged_;
  std::set<std::pair<IncarnationId, LogSeq>> fences_;
  std::set<std::pair<IncarnationId, LogSeq>> collected_;
  std::map<IncarnationId, LogSeq> landed_;   // one past the highest object that ever was there
  std::map<IncarnationId, LogSeq> trimmed_;  // one past the highest object that was deleted
  std::optional<uint64_t> window_;
};

}  // namespace morula::invariants
