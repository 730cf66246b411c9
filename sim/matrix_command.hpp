// `morula-sim matrix`: its options, and what it does with them.
#pragma once

#include <string>
#include <vector>

#include "sim/matrix/matrix.hpp"

namespace CLI {
class App;
}

namespace morula::sim {

struct MatrixArguments {
  MatrixOptions options;
  std::vector<std::string> only;
  std::string shard;
  std::string mutant = "none";
  std::string one;  // the name of a case
  std::string trace_file;
};

void add_matrix(CLI::App& app, MatrixArguments& arguments);
/// Returns the exit code.
int matrix(MatrixArguments& arguments);

}  // namespace morula::sim
