// What the models of the log and of the topology have in common.
#pragma once

#include <climits>
#include <tuple>

namespace morula::spec {

/// Where an open log entry ends.
inline constexpr int kOpen = INT_MAX;

/// A batch, which holds one record, by the log and the position that it was sent to.
struct BatchId {
  int incarnation = 0;
  int seq = 0;
  static constexpr auto kFields = std::tuple(&BatchId::incarnation, &BatchId::seq);
  auto operator<=>(const BatchId&) const = default;
};

}  // namespace morula::spec
