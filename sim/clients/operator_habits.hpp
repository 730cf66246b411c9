// What an operator of the cell asks for, and how often.
#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace morula::sim {

struct OperatorHabits {
  uint32_t count = 0;  // of operators, each of whom waits for an answer before he asks for more
  Duration pause = std::chrono::milliseconds(500);  // between two, on average
  uint32_t splits = 4;                              // weights
  uint32_t merges = 4;
  uint32_t moves = 3;
  uint32_t relocations = 0;  // drains and balances
  uint8_t bits_max = 3;      // no shard is split beyond
  uint32_t nonsense = 2;     // of 10: what can't be done, or is so already
  uint32_t two_at_once = 0;  // of 10: with another of the same lineage, at another instance
  bool watched = false;      // what changes leave is looked at though none of these asks for them
};

}  // namespace morula::sim
