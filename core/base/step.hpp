// The steps of the ownership protocol that the code takes, once. The same names stand in the specs,
// in the code (a function that carries out a step has its name), in traces and in metrics.
#pragma once

#include <cstdint>
#include <string_view>

namespace morula {

// name, what it does
#define MORULA_STEPS(X)                                                          \
  X(Append, "a record joins the open batch of the log")                          \
  X(PutLog, "a batch is sent to its log position")                               \
  X(Acknowledge, "the acknowledged position advances")                           \
  X(Fenced, "foreign content lies at an own log position: stop for good")        \
  X(Flush, "a manifest that names new tables and a later log start has landed")  \
  X(Compact, "a manifest that names merged tables has landed")                   \
  X(Trim, "own log objects below every use of them are deleted")                 \
  X(Collect, "objects that nothing names any more are deleted")                  \
  X(Fence, "another incarnation's log has a fence that counts")                  \
  X(Seal, "a manifest is sealed against its owner's changes")                    \
  X(Adopt, "a new manifest for a shard to be taken over lies in the bucket")     \
  X(Publish, "the topology names the new owner and manifest")                    \
  X(HandOff, "an owner's topology CAS has given a shard to another")             \
  X(Accept, "a receiver has pinned where its entry of a shard would begin")      \
  X(Split, "the topology names two halves of a shard instead of it")             \
  X(Merge, "the topology names a shard instead of its two halves")               \
  X(Reopen, "the topology names an unsealed copy of a manifest that was sealed") \
  X(Replay, "the closed log ranges of an adopted manifest are applied")          \
  X(RenewLease, "the member document was renewed")                               \
  X(Expire, "another member's document was set to expired")                      \
  X(LoseLease, "the own member document was found expired or replaced")

enum class Step : uint8_t {
#define MORULA_STEP_ENUM(name, what) k##name,
  MORULA_STEPS(MORULA_STEP_ENUM)
#undef MORULA_STEP_ENUM
};

/// The step's name as the specs write it.
std::string_view to_string(Step step);

}  // namespace morula
