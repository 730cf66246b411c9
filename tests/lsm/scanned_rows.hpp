// What a scan of data rows gives away, as rows of one's own.
#pragma once

#include <utility>
#include <vector>

#include "core/lsm/tree_reader.hpp"

namespace morula {

/// `rows`: whatever has TreeReader's `scan_data`.
template <class Rows>
Result<std::vector<Row>> scanned_rows(Rows& rows, DataScan scan) {
  std::vector<Row> taken;
  MORULA_TRY(rows.scan_data(scan, [&taken](const RowView& row) {
    taken.push_back(row.copy(Tree::kData));
    return true;
  }));
  return taken;
}

}  // namespace morula
