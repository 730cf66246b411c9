#include "invariants/spec/exploration.hpp"

#include "invariants/spec/lease.hpp"
#include "invariants/spec/ownership_log.hpp"
#include "invariants/spec/topology.hpp"

namespace morula::spec {

namespace {

template <class Spec>
Result<Exploration> explore_as(const ModelConfig& config, const Limits& limits) {
  const Result<Spec> spec = Spec::configured(config);
  MORULA_TRY(spec);
  for (const std::string& invariant : config.invariants()) {
    if (!Spec::has_invariant(invariant)) {
      return fail(ErrorCode::kInvalid, "there is no invariant \"" + invariant + "\"");
    }
  }
  return Explorer<Spec>(*spec, config.invariants(), limits).run();
}

}  // namespace

Result<Exploration> explore(std::string_view spec, const ModelConfig& config,
                            const Limits& limits) {
  if (spec == "OwnershipLog") return explore_as<OwnershipLog>(config, limits);
  if (spec == "Topology") return explore_as<Topology>(config, limits);
  if (spec == "Lease") return explore_as<Lease>(config, limits);
  return fail(ErrorCode::kInvalid, "there is no spec \"" + std::string(spec) + "\"");
}

}  // namespace morula::spec
