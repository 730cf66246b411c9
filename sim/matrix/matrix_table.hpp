// What came of the crash matrix, as tables for people.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "sim/matrix/matrix_case.hpp"
#include "sim/matrix/matrix_world.hpp"

namespace morula::sim {

/// Of one operation in one cell.
struct MatrixPoints {
  uint32_t requests = 0;
  uint32_t switches = 0;
};

class MatrixTable {
 public:
  void add_points(Operation operation, MatrixCell cell, const MatrixPoints& points);
  void add(const MatrixCase& which, bool failed, bool met);
  void print(std::FILE* out) const;

 private:
  struct Count {
    uint64_t cases = 0;
    uint64_t failed = 0;
    uint64_t met = 0;
  };
  static std::string text(const Count& count);
  void print_points(std::FILE* out) const;
  void print_faults(std::FILE* out) const;
  void print_races(std::FILE* out) const;

  std::map<std::tuple<Operation, MatrixCell>, MatrixPoints> points_;
  std::map<std::tuple<Operation, Ending, Blow>, Count> faults_;
  std::map<std::tuple<Operation, Operation>, Count> races_;
};

}  // namespace morula::sim
