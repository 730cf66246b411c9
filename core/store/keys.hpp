// Layout of the bucket below the cell's prefix: the one place where keys are written and read.
//
//   cell.json                                            created once
//   topology.json                                        swapped
//   members/<name>.json                                  swapped
//   log/<name>-<incarnation>/<seq:020>                   created once, deleted by trim
//   shards/<prefix>/<epoch>-<base version>-<ulid>.manifest
//                                                        created fresh, then swapped by its owner
//   sst/<name>-<incarnation>/<number:020>.sst            created once
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula::keys {

inline constexpr std::string_view kCell = "cell.json";
inline constexpr std::string_view kTopology = "topology.json";
inline constexpr std::string_view kMembers = "members/";
inline constexpr std::string_view kLogs = "log/";
inline constexpr std::string_view kTables = "sst/";
inline constexpr std::string_view kManifests = "shards/";

std::string member(std::string_view name);
/// The instance name in a member's key; kCorrupt for any other key.
Result<std::string> member_name(std::string_view key);

/// All of an incarnation's log objects have this prefix.
std::string log_folder(const IncarnationId& incarnation);
std::string log_object(const IncarnationId& incarnation, LogSeq seq);
/// The seq in a log object's key; kCorrupt for any other key.
Result<LogSeq> log_seq(std::string_view key);

std::string manifest(Prefix shard, Epoch epoch, Version base_topology, Ulid attempt);
std::string table(const IncarnationId& writer, uint64_t number);

/// What a key of the bucket is the key of. Fields that its kind doesn't have stay as they are.
struct Parsed {
  enum class Kind : uint8_t { kCellJson, kTopologyJson, kMember, kLogObject, kManifest, kTable };
  Kind kind = Kind::kCellJson;
  std::string name;           // of a member
  IncarnationId incarnation;  // whose log or table it is
  LogSeq seq;                 // of a log object
  uint64_t number = 0;        // of a table
  Prefix shard;               // of a manifest, as are the next two
  Epoch epoch;
  Version base_topology;
};
/// nullopt for a key that no part of a cell writes.
std::optional<Parsed> parse(std::string_view key);

}  // namespace morula::keys
