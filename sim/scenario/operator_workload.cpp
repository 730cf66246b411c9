#include "sim/scenario/operator_workload.hpp"

#include "core/store/keys.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

void OperatorWorkload::setup(Simulation& simulation) {
  const uint32_t count = simulation.plan().operators.count;
  if (count == 0) return;
  simulation.world().trace().add_observer(*this);
  for (uint32_t i = 0; i < count; ++i) add_operator(simulation);
}

void OperatorWorkload::add_operator(Simulation& simulation) {
  const Plan& plan = simulation.plan();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < plan.instances; ++i) names.push_back(plan.instance_name(i));
  CellOperator& person =
      operators_.emplace_back(simulation.addresses(), std::move(names), plan.operators);
  person.on_done = [this, &simulation](const CellStep& step, const Changed& answer) {
    const std::string wrong = answers_.wrong_with(step, answer);
    if (!wrong.empty()) simulation.world().fail("16", wrong);
  };
  person.on_unexpected = [&simulation](const std::string& what) {
    simulation.world().fail("16", what);
  };
  ProcessOptions options;
  options.name = "o" + std::to_string(operators_.size());
  options.machine = 900 + static_cast<uint32_t>(operators_.size());
  simulation.world().add(options, [&person, &simulation](const Env& env) {
    person.run(env, [&simulation] { return simulation.active(); });
  });
}

void OperatorWorkload::on_store_changed(const StoreRequest& /*request*/, std::string_view key,
                                        const Blob& body) {
  if (key != keys::kTopology || !body) return;
  if (auto topology = decode_topology(*body)) answers_.written(*std::move(topology));
}

std::string OperatorWorkload::awaited(Simulation& /*simulation*/) {
  for (const CellOperator& person : operators_) {
    if (!person.done()) return "an operator has not been answered";
  }
  return {};
}

uint64_t OperatorWorkload::operations() const {
  uint64_t sum = 0;
  for (const CellOperator& person : operators_) sum += person.operations();
  return sum;
}

}  // namespace morula::sim
