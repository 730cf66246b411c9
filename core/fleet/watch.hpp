// Watching another member's document until its lease is provably over.
//
// The watcher counts on its own clock from the answer of the first read that showed the present
// version. After L + margin without a change it sets the document to `expired` by CAS, from exactly
// that version; losing that CAS restarts the watch. Only after that may anybody fence the member's
// log (OWNERSHIP, Reads). At once where the process is provably gone.
#pragma once

#include <optional>
#include <string>

#include "core/fleet/lease_config.hpp"
#include "core/fleet/member.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

class MemberWatch {
 public:
  /// Watches `members/<name>.json` on behalf of `self`.
  MemberWatch(const Env& env, const LeaseConfig& config, const RetryConfig& retry,
              IncarnationId self, const std::string& name);

  enum class Seen : uint8_t {
    kAbsent,  // there is no such document
    kLive,    // its lease may hold
    kOver,    // expired or stopped: its incarnation answers nothing any more
  };
  /// Reads the document once; expires it if it may. After an answer other than kAbsent, `member()`
  /// is what was last seen. Several fibers may look at once. Suspends.
  Result<Seen> look();
  /// The same for a document that a listing has just shown with this etag (empty: not told): one
  /// that was over and is unchanged is not read again.
  Result<Seen> look_at_listed(const Etag& listed);

  const std::optional<Member>& member() const { return member_; }
  /// How long an unchanged document still counts as live.
  Duration remaining() const;

 private:
  Result<bool> Expire();

  const Env env_;
  const LeaseConfig config_;
  const RetryConfig retry_;
  const IncarnationId self_;
  const std::string key_;
  std::optional<Member> member_;
  Etag etag_;
  Time first_seen_{};
};

}  // namespace morula
