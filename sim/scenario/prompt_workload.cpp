#include "sim/scenario/prompt_workload.hpp"

#include <algorithm>

#include "core/api/target.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

std::string ms_text(Duration duration) {
  return std::to_string(duration.count() / 1'000'000) + " ms";
}

}  // namespace

void PromptWorkload::setup(Simulation& simulation) {
  if (simulation.plan().answer_within == Duration{}) return;
  simulation_ = &simulation;
  simulation.world().trace().add_observer(*this);
}

bool PromptWorkload::watches() {
  if (!begun_) begun_ = std::ranges::all_of(simulation_->hosts(), &InstanceHost::ready);
  return begun_ && simulation_->active();
}

void PromptWorkload::on_call_arrived(ProcessId /*at*/, uint64_t number,
                                     const HttpRequest& request) {
  if (!watches() || !request.target.starts_with(kStreamPrefix)) return;
  open_[number] = {simulation_->world().now(), request.method + " " + request.target};
}

void PromptWorkload::on_call_answered(ProcessId /*at*/, uint64_t number,
                                      const HttpRequest& /*request*/,
                                      const HttpResponse* response) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  const Asked asked = std::move(found->second);
  open_.erase(found);
  if (!simulation_->active()) return;
  const int status = response == nullptr ? 0 : response->status;
  if (status == 0 || status >= 500) {
    return simulation_->world().fail("17", asked.what + " was answered " + std::to_string(status) +
                                               (response == nullptr ? "" : " " + response->body));
  }
  judge(asked, "was answered after ");
}

void PromptWorkload::judge(const Asked& asked, const std::string& answered) {
  const Duration took = simulation_->world().now() - asked.at;
  if (took <= simulation_->plan().answer_within) return;
  simulation_->world().fail("17", asked.what + " " + answered + ms_text(took));
}

void PromptWorkload::heal(Simulation& /*simulation*/) {
  for (const auto& [number, asked] : open_) judge(asked, "has not been answered for ");
}

}  // namespace morula::sim
