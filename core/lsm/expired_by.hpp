// Which streams have expired, as compaction sees it.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/units.hpp"

namespace morula {

struct ExpiredBy {
  /// From when on the stream of a hot row with this value is gone; nullopt: never. Pure.
  using DeadlineOf = std::optional<WallTime> (*)(std::string_view value);

  std::optional<WallTime> time;  // nullopt: none has
  DeadlineOf deadline_of = nullptr;

  /// The stream of that hot row has.
  bool covers(std::string_view hot_value) const {
    if (!time || deadline_of == nullptr) return false;
    const auto deadline = deadline_of(hot_value);
    return deadline && *deadline <= *time;
  }
};

}  // namespace morula
