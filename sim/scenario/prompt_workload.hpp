// Invariant 17: in worlds whose plan says so, each request to a stream is served, and within a
// bound, from when all instances are ready until healing.
#pragma once

#include <map>
#include <string>

#include "sim/scenario/workload.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/sim_clock.hpp"

namespace morula::sim {

class PromptWorkload final : public Workload, private Observer {
 public:
  std::string_view name() const override { return "promptness"; }
  void setup(Simulation& simulation) override;
  void heal(Simulation& simulation) override;

 private:
  struct Asked {
    TrueTime at;
    std::string what;
  };
  bool watches();
  void on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) override;
  void on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                        const HttpResponse* response) override;
  void judge(const Asked& asked, const std::string& answered);

  Simulation* simulation_ = nullptr;
  bool begun_ = false;
  std::map<uint64_t, Asked> open_;  // by the number of the call
};

}  // namespace morula::sim
