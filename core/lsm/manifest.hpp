// The manifest of a shard: which tables and log ranges hold its rows. A JSON document of the
// bucket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/lsm/key_range.hpp"
#include "core/lsm/row.hpp"

namespace morula {

/// A table, and the part of the hash space that it counts for.
struct ManifestTable {
  std::string key = {};  // of the object
  Tree tree = Tree::kMeta;
  Prefix clip = {};
  uint64_t bytes = 0;
  uint32_t level = 0;     // see compaction.hpp
  KeyRange streams = {};  // the places of its first and its last row

  /// From the first to the last place that a row may have that counts: `streams`, cut to the clip
  /// in the trees whose places are streams.
  KeyRange counted() const;
  /// About how many of its bytes that is, if streams are spread like hashes.
  uint64_t counted_bytes() const;
  friend bool operator==(const ManifestTable&, const ManifestTable&) = default;
};

/// Rows that are still only in a log: objects [from, to) of an incarnation; open: all from `from`.
struct ManifestLog {
  Prefix clip;
  IncarnationId incarnation;
  LogSeq from;
  std::optional<LogSeq> to;
  friend bool operator==(const ManifestLog&, const ManifestLog&) = default;
};

struct Manifest {
  Version version;      // raised by every swap
  bool sealed = false;  // its owner changes it no more
  std::vector<ManifestTable> tables;
  std::vector<ManifestLog> logs;
  Generation mark;       // at least every generation ever dropped; creation draws above it
  WallTime wall_floor;   // expiry goes by max(wall, floor)
  IncarnationId writer;  // who wrote this content
  Ulid nonce;            // no content ever repeats

  /// The incarnations that `logs` names, sorted, each once.
  std::vector<IncarnationId> log_incarnations() const;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

std::string encode_manifest(const Manifest& manifest);
/// kCorrupt, naming the field, for anything that is no manifest of this format version.
Result<Manifest> decode_manifest(std::string_view text);

}  // namespace morula
