// What the giver of a shard and its receiver say to each other (OWNERSHIP R4): POSTs of JSON
// between instances. Every message names the incarnation that it is for: a successor at the same
// address refuses it.
//
//   /v1/cell/handoff/prepare   open what the manifest names, and what the log has so far, ahead
//   /v1/cell/handoff/accept    pin where your entry would begin -> {"from": q}
//   /v1/cell/handoff/named     the topology names you: serve
//
// Answers: 200, or an error of the API. Losing one costs time, never more.
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/lsm/manifest.hpp"
#include "core/store/versioned.hpp"
#include "core/topology/topology.hpp"

namespace morula {

inline constexpr std::string_view kHandoffPrefix = "/v1/cell/handoff/";
inline constexpr std::string_view kPreparePath = "/v1/cell/handoff/prepare";
inline constexpr std::string_view kAcceptPath = "/v1/cell/handoff/accept";
inline constexpr std::string_view kNamedPath = "/v1/cell/handoff/named";

struct PrepareMessage {
  IncarnationId to;
  IncarnationId from;
  Prefix shard;
  Epoch epoch;
  std::string manifest_key;
  Manifest manifest;    // as it is now: the receiver needn't ask the store
  LogSeq acknowledged;  // of the giver's log: all below lies in the bucket
};

struct AcceptMessage {
  IncarnationId to;
  Prefix shard;
  Ulid attempt;      // a repeated ask of it gets the same answer
  Version topology;  // what the giver's CAS will go by
};

struct NamedMessage {
  IncarnationId to;
  Topology topology;
  std::string manifest_key;
  Versioned<Manifest> manifest;
};

std::string encode(const PrepareMessage& message);
std::string encode(const AcceptMessage& message);
std::string encode(const NamedMessage& message);
std::string encode_accepted(LogSeq from);

// kInvalid, naming the field.
Result<PrepareMessage> decode_prepare(std::string_view text);
Result<AcceptMessage> decode_accept(std::string_view text);
Result<NamedMessage> decode_named(std::string_view text);
Result<LogSeq> decode_accepted(std::string_view text);

}  // namespace morula
