// From one place in a tree's key order to another, both included: which streams a table has rows
// of. In the meta and data tree a place is a StreamId, in the index tree kind, tenant and path
// (`row_key::place`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/lsm/row.hpp"

namespace morula {

struct KeyRange {
  std::string first;
  std::string last;

  /// All of the meta or data tree.
  KeyRange() : KeyRange(StreamId{}, StreamId{UINT64_MAX, UINT64_MAX}) {}
  KeyRange(std::string begins, std::string ends)
      : first(std::move(begins)), last(std::move(ends)) {}
  /// Of the meta or data tree.
  KeyRange(StreamId begins, StreamId ends)
      : first(row_key::stream(begins)), last(row_key::stream(ends)) {}

  bool contains(std::string_view place) const { return first <= place && place <= last; }
  bool overlaps(const KeyRange& other) const { return first <= other.last && other.first <= last; }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

}  // namespace morula
