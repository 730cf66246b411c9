// Pairs each of a few things on the left with one of its own on the right, where `fits`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace morula::invariants {

/// A maximum matching of a bipartite graph, by augmenting paths.
class Matching {
 public:
  using Fits = std::function<bool(size_t left, size_t right)>;

  Matching(size_t left_count, size_t right_count, Fits fits)
      : fits_(std::move(fits)), left_of_(right_count, kNone) {
    for (size_t left = 0; left < left_count; ++left) {
      std::vector<bool> tried(right_count, false);
      if (!augment(left, tried)) unmatched_.push_back(left);
    }
  }

  /// What is left over on the left.
  const std::vector<size_t>& unmatched() const { return unmatched_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  bool augment(size_t left, std::vector<bool>& tried) {
    for (size_t right = 0; right < left_of_.size(); ++right) {
      if (tried[right] || !fits_(left, right)) continue;
      tried[right] = true;
      if (left_of_[right] == kNone || augment(left_of_[right], tried)) {
        left_of_[right] = left;
        return true;
      }
    }
    return false;
  }

  Fits fits_;
  std::vector<size_t> left_of_;
  std::vector<size_t> unmatched_;
};

}  // namespace morula::invariants
