#include "core/lsm/packed_block.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/rt/random.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

Block block_of(std::string bytes) {
  const Blob blob = make_blob(std::move(bytes));
  return {blob, *blob};
}

std::string rows_block(size_t rows, bool alike) {
  BlockBuilder builder(BlockType::kRows);
  Random random(rows);
  for (size_t n = 0; n < rows; ++n) {
    const std::string key = row_key::data({1, n}, Generation(1), {n, n});
    std::string value(alike ? 60 : 400, 'v');
    for (char& byte : value) {
      if (!alike) byte = static_cast<char>(random.next());
    }
    builder.add({key, ChangeNumber(n), false, value});
  }
  return builder.finish();
}

RC_GTEST_PROP(PackedBlock, IsUnpackedToWhatItWas, ()) {
  const std::string block =
      rows_block(*rc::gen::inRange<size_t>(1, 300), *rc::gen::arbitrary<bool>());
  const std::string stored = pack_block(block);
  RC_ASSERT(stored.size() <= block.size());
  const auto unpacked = unpack_block(block_of(stored));
  RC_ASSERT(unpacked.has_value());
  RC_ASSERT(unpacked->bytes == block);
}

TEST(PackedBlock, WhatDoesNotPackIsStoredAsItIs) {
  EXPECT_LT(pack_block(rows_block(200, true)).size(), 8'000u);
  const std::string noise = rows_block(200, false);
  EXPECT_EQ(pack_block(noise), noise);
}

TEST(PackedBlock, DamageIsRefusedOrUnpackedToSomethingElse) {
  const std::string stored = pack_block(rows_block(200, true));
  Random random(7);
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string wrong = damaged(stored, random);
    if (wrong.empty()) continue;
    wrong[0] = stored[0];
    const auto unpacked = unpack_block(block_of(wrong));
    if (unpacked) continue;
    EXPECT_EQ(unpacked.error().code, ErrorCode::kCorrupt);
    ++refused;
  }
  EXPECT_GT(refused, 1'000u);
}

}  // namespace
}  // namespace morula
