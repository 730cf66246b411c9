// Rows of a test as a change.
#pragma once

#include <vector>

#include "core/lsm/changed_rows.hpp"

namespace morula {

inline ChangedRows changed_rows_of(const std::vector<Row>& rows) {
  ChangedRows changed;
  for (const Row& row : rows) {
    changed.set_change(row.change);
    changed.add(row.tree, row.key, row.deleted).append(row.value);
  }
  return changed;
}

}  // namespace morula
