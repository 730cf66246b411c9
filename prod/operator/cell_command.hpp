// `morula cell`: what an operator sees of a running cell and does to it, through any instance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prod/options.hpp"

namespace morula {

struct CellOptions {
  enum class What : uint8_t { kShow, kSplit, kMerge, kMove, kDrain, kBalance };
  What what = What::kShow;
  std::string url = "http://" + ServeOptions().listen;
  bool json = false;
  std::string prefix;    // if names_shard
  std::string instance;  // if names_instance
};
/// What the command's arguments are.
constexpr bool names_shard(CellOptions::What what) {
  using What = CellOptions::What;
  return what == What::kSplit || what == What::kMerge || what == What::kMove;
}
constexpr bool names_instance(CellOptions::What what) {
  return what == CellOptions::What::kMove || what == CellOptions::What::kDrain;
}
/// All but the command's arguments.
std::vector<Option> option_table(CellOptions& options);

// How the command ends.
inline constexpr int kCellDone = 0;
inline constexpr int kCellRefused = 1;  // or not to be reached, or not done now
inline constexpr int kCellUsage = 2;    // or the answer could not be printed

/// Prints the answer on stdout: words, or the JSON that the instance gave; refusals on stderr, too.
int cell(const CellOptions& options);

}  // namespace morula
