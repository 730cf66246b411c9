// The member document: one instance's heartbeat and lease, `members/<name>.json`.
//
// It is swapped only: by its incarnation to renew, by a watcher to `expired`, by the next
// incarnation of the name to take it over once it is expired or stopped. So an incarnation that a
// document no longer names, or names as expired or stopped, will never answer a read again.
#pragma once

#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/rt/platform.hpp"

namespace morula {

/// Legal transitions: (none) -> live; live -> live | expired | stopped; expired, stopped -> live of
/// another incarnation. Nothing else, ever.
enum class MemberState : uint8_t { kLive, kExpired, kStopped };
std::string_view to_string(MemberState state);

struct Member {
  Version version;  // raised by every swap
  IncarnationId incarnation;
  MemberState state = MemberState::kLive;
  Duration lease{};          // L: what a watcher waits for, plus the margin
  std::string address;       // "http://host:port"
  LogSeq acknowledged;       // a hint: the log's acknowledged position at this heartbeat
  uint64_t table_floor = 0;  // no upload of a table below it is under way or unpublished (R8)
  ProcessIdentity process;   // lets a neighbour on the same machine prove that it is gone
  IncarnationId writer;      // who wrote this content
  Ulid nonce;                // no content ever repeats
};

std::string encode_member(const Member& member);
/// kCorrupt, naming the field.
Result<Member> decode_member(std::string_view text);

/// Of a lease of length `lease`: what its holder takes off and a watcher adds, so that clocks whose
/// rates differ by up to (1+m)/(1-m) agree that it is over (OWNERSHIP, Reads).
constexpr Duration lease_margin(Duration lease, uint64_t permille) {
  return Duration(lease.count() / 1000 * static_cast<int64_t>(permille));
}

}  // namespace morula
