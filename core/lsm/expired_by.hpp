// Which streams have expired, as compaction sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"

namespace morula {

struct ExpiredBy {
  /// From when on the stream of a hot row with this value is gone; nullopt: never. Pure.
  using DeadlineOf = std::optional<WallTime> (*)(std::string_view value);
  /// The key of the index row of this creation, whose descriptor row has this value; nullopt: the
  /// row can't be read. Pure.
  using ListingOf = std::optional<std::string> (*)(std::string_view value, StreamId id,
                                                   Generation generation);

  std::optional<WallTime> time;  // nullopt: none has
  DeadlineOf deadline_of = nullptr;
  ListingOf listing_of = nullptr;  // null: nothing is listed

  /// The stream of that hot row has.
  bool covers(std::string_view hot_value) const {
    if (!time || deadline_of == nullptr) return false;
    const auto deadline = deadline_of(hot_value);
    return deadline && *deadline <= *time;
  }
};

}  // namespace morula
