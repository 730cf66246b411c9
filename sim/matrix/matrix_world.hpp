// One case of the crash matrix as a world: small, with a fixed plan and a fixed seed, all
// invariants on, read to its end when all is over.
#pragma once

#include <cstdint>

#include "sim/matrix/matrix_case.hpp"
#include "sim/scenario/plan.hpp"
#include "sim/scenario/simulation.hpp"
#include "sim/world/sim_trace.hpp"

namespace morula::sim {

/// The cell of a case. Cases of one cell are the same world until their fault.
enum class MatrixCell : uint8_t {
  alone,        // one instance: nobody else can recover
  one_machine,  // three, and a restarted one needn't wait for its own old lease
  apart,        // three, on a machine each
};

MatrixCell cell_of(const MatrixCase& which);
Plan plan_of(const MatrixCase& which);

struct MatrixReport {
  SeedReport seed;
  uint32_t requests = 0;  // store requests of the struck process during its operation
  uint32_t switches = 0;  // suspension points of that process
  bool ended = false;     // the operation has come to its end
  bool struck = false;    // the case's point was reached
  bool met = false;       // the other operation of a race ended while the request was held back
};

/// `seed`: of the whole matrix; another one has other latencies, other clients, other points.
/// `lines` as of `run_job`.
MatrixReport run_matrix_case(const MatrixCase& which, uint64_t seed,
                             const SimTrace::LineSink& lines = {}, bool detail = false);

}  // namespace morula::sim
