// Emptying an instance: each of its shards moves to the live instance that has fewest, the first
// by name of those. Only what it has at that time: nothing keeps shards from coming to it later.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/api/api.hpp"
#include "core/api/cell_control.hpp"
#include "core/api/cell_steps.hpp"
#include "core/rt/network.hpp"

namespace morula {

class CellDrain {
 public:
  /// Everything outlives the drain.
  CellDrain(const Env& env, const ApiConfig& config, CellControl& control, std::string instance)
      : env_(env), config_(config), control_(control), instance_(std::move(instance)) {}

  /// 200 once the instance has no shard; 503 `drain_incomplete` with what is left, and why, when
  /// that can't be done now; 404, 409: see core/api/cell_routes.hpp. Suspends; throws Cancelled.
  HttpResponse run();

 private:
  struct Moved {
    Prefix prefix;
    std::string to;
  };
  /// Moves what the view shows, as far as there is time. False: nothing could be moved.
  bool move_all(const CellView& view, Time deadline);
  HttpResponse response(Version version) const;

  const Env& env_;
  const ApiConfig& config_;
  CellControl& control_;
  const std::string instance_;
  std::vector<Moved> moved_;
  std::map<Prefix, std::string> left_;  // why
};

}  // namespace morula
