// The crash matrix: every operation that changes what lies in the store, struck by every fault at
// every store request and every suspension point, followed by every recovery; and every pair of
// operations on one lineage, the one held back at each of its requests while the other comes in
// between. Enumerated, not drawn: what is to be struck is counted first, in a world without faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/mutant.hpp"
#include "sim/matrix/matrix_case.hpp"
#include "sim/sweep/job.hpp"
#include "sim/sweep/share.hpp"

namespace morula::sim {

struct MatrixOptions {
  uint64_t seed = 1;  // of latencies and clients
  Mutant mutant = Mutant::none;
  std::vector<Operation> operations;  // empty: all
  Share share;                        // of the cases
  size_t jobs = 1;
  std::chrono::seconds case_timeout{120};
  uint64_t failures_max = 20;  // stops after so many
};

/// Prints to stdout. Returns the exit code: 0 all held, 1 a case failed. The last line is `N
/// passed, N failed`.
int run_matrix(const MatrixOptions& options);

/// One case in this process, as a result of a sweep. `lines` as of `run_job`.
JobResult run_matrix_job(const MatrixCase& which, uint64_t seed, Mutant mutant,
                         const SimTrace::LineSink& lines = {}, bool detail = false);

/// The command that runs it again.
std::string matrix_command(const std::string& name, uint64_t seed, Mutant mutant);

}  // namespace morula::sim
