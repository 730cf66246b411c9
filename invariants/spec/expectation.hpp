// What tla/expected.json says of each configuration in tla/cfg, and whether an exploration agrees.
// tla/check holds TLC and tla-checker to the same file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "invariants/spec/exploration.hpp"

namespace morula::spec {

struct Expectation {
  std::string config{};  // its file's name, without .cfg
  std::string spec{};    // its file's name, without .tla
  std::string rule{};    // of OWNERSHIP.md that the configuration breaks; empty: none
  std::string says{};    // what is broken, or reached
  bool is_long = false;
  // Either all states are found, so many and so deep, or this invariant is violated, at the end of
  // a trace of so many states.
  uint64_t distinct = 0;
  uint64_t depth = 0;
  std::string violates{};
  uint64_t trace = 0;
};

/// In the file's order. kCorrupt: it is not what it should be.
Result<std::vector<Expectation>> parse_expectations(std::string_view json);

/// What is not as expected, in words; nullopt when all is.
std::optional<std::string> surprise(const Expectation& expected, const Exploration& found);

}  // namespace morula::spec
