// Moving several shards at once: emptying an instance, or giving each live instance its part.
//
// It goes by what it sees while it works: nothing keeps shards from moving again later.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/api/api.hpp"
#include "core/api/cell_control.hpp"
#include "core/api/cell_steps.hpp"
#include "core/rt/network.hpp"
#include "core/topology/served_plan.hpp"

namespace morula {

/// What is to move now; none: it is as it is to be. Or why it can't be done.
using MovesToMake = std::variant<std::vector<ShardMove>, HttpResponse>;

/// What is to be in the end.
class Relocation {
 public:
  virtual ~Relocation() = default;
  /// "balance": of codes and messages.
  virtual std::string_view name() const = 0;
  virtual MovesToMake moves(const CellView& view) const = 0;
};

/// Each shard of an instance goes to the live one that has fewest, the first by name of those.
class Drain final : public Relocation {
 public:
  explicit Drain(std::string instance) : instance_(std::move(instance)) {}
  std::string_view name() const override { return "drain"; }
  MovesToMake moves(const CellView& view) const override;

 private:
  const std::string instance_;
};

/// All live instances get as many shards, or one more, by the fewest moves
/// (core/topology/shard_balance.hpp).
class Balance final : public Relocation {
 public:
  std::string_view name() const override { return "balance"; }
  MovesToMake moves(const CellView& view) const override;
};

/// 200 once it is so; 503 `<name>_incomplete` with what is left, and why, when that can't be done
/// now; 404, 409: see core/api/cell_routes.hpp. Suspends; throws Cancelled.
HttpResponse relocate(const Env& env, const ApiConfig& config, CellControl& control,
                      const Relocation& relocation);

}  // namespace morula
