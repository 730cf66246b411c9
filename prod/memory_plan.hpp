// How `morula serve` divides its memory: a limit, and the shares of it that options leave open.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/memory_budget.hpp"
#include "core/base/result.hpp"
#include "prod/options.hpp"

namespace morula {

/// What the container may take: the least `memory.max` of its cgroups (version 2, or 1), or all
/// that the machine has. `root` is where /proc and /sys lie: "" but in tests.
uint64_t memory_of_container(const std::string& root);
/// What this process takes now; 0 when that can't be told.
uint64_t resident_bytes();

/// Settles the limit, sets what `options` leave open, and what follows from it. kInvalid: the limit
/// is too small for what is configured; says what to change.
Result<MemoryShares> plan_memory(ServeOptions& options, uint64_t container_bytes);

}  // namespace morula
