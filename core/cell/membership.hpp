// The other members, as this instance sees them: who lives, who is over.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/fleet/watch.hpp"
#include "core/rt/env.hpp"

namespace morula {

class Membership {
 public:
  Membership(const Env& env, const LeaseConfig& config, const RetryConfig& retry,
             IncarnationId self);

  /// Lists the members and looks at each other one's document, expiring those that may be: true
  /// when no other is live. Suspends.
  Result<bool> look_whether_alone();

  /// The names of those that were live when they were last looked at, and the own one.
  std::set<std::string> live() const;
  /// The incarnation of a name among them; nullopt: it is not among them.
  std::optional<IncarnationId> live_incarnation(const std::string& name) const;
  /// All member documents, as they are now. Suspends.
  Result<std::vector<Member>> read_all();

  struct Owner {
    bool over = false;         // it answers nothing any more: its shards may be taken over
    std::string address;       // while it may be live
    LogSeq acknowledged_hint;  // of its log
  };
  /// What an incarnation's member document says now, expiring it if that may be. nullopt: there is
  /// no such document. Suspends.
  Result<std::optional<Owner>> look_at(const IncarnationId& incarnation);

 private:
  MemberWatch& watch(const std::string& name);

  const Env env_;
  const LeaseConfig config_;
  const RetryConfig retry_;
  const IncarnationId self_;
  std::map<std::string, MemberWatch> watches_;
};

}  // namespace morula
