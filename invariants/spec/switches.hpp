// What the specs' constants have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula::spec {

/// The switches that `mut` names, as bits in the order of `names` (at most 64). kInvalid: there is
/// none of that name.
inline Result<uint64_t> switches_of(const std::set<std::string>& mut,
                                    std::span<const std::string_view> names) {
  uint64_t switches = 0;
  for (const std::string& name : mut) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return fail(ErrorCode::kInvalid, "Mut: \"" + name + "\" is unknown");
    switches |= uint64_t{1} << (found - names.begin());
  }
  return switches;
}

/// n, where `numbers` is {1, ..., n}. kInvalid: it is another set.
inline Result<int> first_numbers(const std::set<int>& numbers, const std::string& name) {
  if (numbers.empty() || *numbers.begin() != 1 ||
      *numbers.rbegin() != static_cast<int>(numbers.size())) {
    return fail(ErrorCode::kInvalid, name + " is to be {1, ..., n}");
  }
  return static_cast<int>(numbers.size());
}

}  // namespace morula::spec
