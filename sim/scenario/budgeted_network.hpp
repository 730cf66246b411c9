// What the HTTP server does with the memory budget, where there is no HTTP server: requests reserve
// their bodies before a handler sees them. (What answers hold goes when they have left:
// SimNetwork.)
#pragma once

#include "core/api/responses.hpp"
#include "core/base/memory_budget.hpp"
#include "core/rt/wrapped_network.hpp"

namespace morula::sim {

class BudgetedNetwork final : public WrappedNetwork {
 public:
  /// The process takes `resident_percent` of what it accounts for.
  BudgetedNetwork(Network& within, MemoryBudget& memory, uint64_t resident_percent)
      : WrappedNetwork(within), memory_(memory), resident_percent_(resident_percent) {}

 private:
  HttpResponse answer(const Handler& handle, const HttpRequest& request) override {
    memory_.note_resident(memory_.memory.used() / 100 * resident_percent_);
    auto body = memory_.reserve_body(request.body.size());
    if (!body) {
      const bool shed = body.error().code == ErrorCode::kShed;
      return busy_response(
          to_string(shed ? MemoryRefusal::kRssShed : MemoryRefusal::kAppendMemoryBusy),
          body.error().message, body.error().retry_after_ms);
    }
    return handle(request);
  }

  MemoryBudget& memory_;
  const uint64_t resident_percent_;
};

}  // namespace morula::sim
