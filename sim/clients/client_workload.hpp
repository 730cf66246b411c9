// The clients of the cell, and all checks of what they see. After healing they settle what is open;
// then one more client reads every stream from its start.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "sim/clients/checks.hpp"
#include "sim/clients/client.hpp"
#include "sim/scenario/workload.hpp"

namespace morula::sim {

class ClientWorkload final : public Workload {
 public:
  std::string_view name() const override { return "clients"; }
  void setup(Simulation& simulation) override;
  void heal(Simulation& simulation) override;
  std::string awaited(Simulation& simulation) override;
  void check(Simulation& simulation) override;
  uint64_t operations() const override;

 private:
  void add_client(Simulation& simulation, const std::vector<std::string>& shared, Random& random);

  std::optional<Checks> checks_;
  std::deque<Client> clients_;
  std::optional<Client> reader_;
};

}  // namespace morula::sim
