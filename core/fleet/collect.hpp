// Garbage (OWNERSHIP R8): manifests that the topology has left behind, tables that no manifest
// names any more, and the logs of the dead.
//
// What makes it safe is the order in which things are read, not who reads them: any member may
// collect, several may at once, and one may go on with it however late. To save requests only one
// does, the live member whose name comes first. FENCEs stay: they are small, and there is one for
// each incarnation.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/fleet/member.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

class Collector {
 public:
  /// `window`: the cell's W.
  Collector(const Env& env, const RetryConfig& retry, IncarnationId self, uint64_t window)
      : env_(env), retry_(retry), self_(std::move(self)), window_(window) {}

  struct Collected {
    uint64_t objects = 0;
    uint64_t bytes = 0;
  };
  /// One round; nullopt when it is another member's turn. After an error there may be garbage left
  /// for the next one. Suspends.
  Result<std::optional<Collected>> Collect();

 private:
  using Members = std::map<std::string, Member>;  // by name
  /// What one incarnation has left in the bucket.
  struct Remains {
    std::vector<ObjectInfo> log;  // without FENCEs
    std::vector<ObjectInfo> tables;
  };
  /// What is in use.
  struct Named {
    std::set<IncarnationId> owners;
    std::set<IncarnationId> logs;  // that a manifest names
    std::set<std::string> tables;
    std::set<std::string> manifests;
    Version topology;
  };

  Result<Members> read_members();
  Result<std::map<IncarnationId, Remains>> list_remains();
  Result<Named> read_named();
  std::vector<ObjectInfo> replaced(std::vector<ObjectInfo> manifests, const Named& named) const;
  bool is_over(const Members& members, const IncarnationId& incarnation) const;
  /// Adds what is garbage of `remains` to `garbage`.
  void add_garbage(const IncarnationId& incarnation, const Remains& remains, const Members& members,
                   const Named& named, std::vector<ObjectInfo>& garbage) const;
  Result<> fence(const IncarnationId& incarnation, const Members& members);

  const Env env_;
  const RetryConfig retry_;
  const IncarnationId self_;
  const uint64_t window_;
  std::set<IncarnationId> fenced_;  // a fence that counts once counts for ever
};

}  // namespace morula
