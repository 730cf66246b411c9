#include "core/cell/cell_document.hpp"

#include <gtest/gtest.h>

#include "tests/base/damage.hpp"

namespace morula {
namespace {

CellDocument sample() {
  CellDocument cell;
  cell.cell = Ulid{1, 2};
  cell.window = 8;
  cell.writer = {"a", Ulid{3, 4}};
  return cell;
}

TEST(CellDocument, DamageIsRefusedOrHarmless) {
  expect_damage_is_refused_or_harmless({"morula-cell", 1}, encode_cell(sample()), encode_cell,
                                       decode_cell);
}

}  // namespace
}  // namespace morula
