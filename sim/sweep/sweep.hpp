// Many seeds, in worker processes; each failure as it comes, with the command that runs it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/sweep/share.hpp"

namespace morula::sim {

struct SweepOptions {
  std::vector<std::string> scenarios = {"default"};  // a seed runs each of them
  uint64_t first = 0;
  uint64_t last = 0;             // exclusive; UINT64_MAX with a time
  std::chrono::seconds time{0};  // starts no seed after it; 0: no bound
  size_t jobs = 1;
  Share share;  // of the seeds
  std::string junit_file;
  std::string jsonl_file;
  std::chrono::seconds seed_timeout{120};
  uint64_t failures_max = 20;  // stops after so many
  /// Fails if a pair of fault and step that is_required says was not reached. For 2,000 seeds of
  /// the default scenario or more: fewer, or other kinds of world, reach less.
  bool require_pairs = false;
};

/// Prints to stdout. Returns the exit code: 0 held, 1 a seed failed or a required pair is missing,
/// 2 a file can't be written.
int run_sweep(const SweepOptions& options);

/// Every so many seeds one is run twice and compared.
inline constexpr uint64_t kTwiceEvery = 20;

}  // namespace morula::sim
