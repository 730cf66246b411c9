// `morula cell`: what an operator sees of a running cell and does to it, through any instance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prod/options.hpp"

namespace morula {

struct CellOptions {
  enum class What : uint8_t { kShow, kSplit, kMerge, kMove, kDrain };
  What what = What::kShow;
  std::string url = "http://" + ServeOptions().listen;
  bool json = false;
  std::string prefix;    // with kSplit, kMerge, kMove
  std::string instance;  // with kMove, kDrain: a name
};
/// All but what the command's arguments say.
std::vector<Option> option_table(CellOptions& options);

// How the command ends.
inline constexpr int kCellDone = 0;
inline constexpr int kCellRefused = 1;  // or not to be reached, or not done now
inline constexpr int kCellUsage = 2;

/// Prints the answer on stdout: words, or the JSON that the instance gave; refusals on stderr, too.
int cell(const CellOptions& options);

}  // namespace morula
