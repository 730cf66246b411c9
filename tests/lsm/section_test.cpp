#include "core/lsm/section.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "core/lsm/table_builder.hpp"
#include "core/rt/random.hpp"
#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

RC_GTEST_PROP(Section, ASeparatorLiesFromTheLastKeyToBeforeTheNext, ()) {
  std::string last = *rc::gen::oneOf(meta_keys(), data_keys(), rc::gen::arbitrary<std::string>());
  std::string next = *rc::gen::oneOf(meta_keys(), data_keys(), rc::gen::arbitrary<std::string>());
  RC_PRE(last != next);
  if (next < last) std::swap(last, next);
  const std::string between(separator(last, next));
  RC_ASSERT(last <= between);
  RC_ASSERT(between < next);
  RC_ASSERT(between.size() <= std::max(last.size(), next.size()));
}

TEST(Section, WhatIsKeptOfASectionTakesTwoOrThreeBytesAStream) {
  TableBuilder builder(Tree::kMeta);
  Random random(1);
  std::map<uint64_t, uint64_t> ids;
  for (int n = 0; n < 20'000; ++n) ids[random.next()] = random.next();
  uint64_t rows_bytes = 0;
  for (const auto& [high, low] : ids) {
    for (const RowKind kind : {RowKind::kHot, RowKind::kDescriptor}) {
      const std::string key = row_key::meta({high, low}, Generation(1), kind);
      std::string value(kind == RowKind::kHot ? 36 : 70, '\0');
      for (char& byte : value) byte = static_cast<char>(random.next());  // nothing packs it
      builder.add({key, ChangeNumber(1), false, value});
    }
  }
  const std::string table = builder.finish();
  const auto footer =
      TableFooter::decode(table.substr(table.size() - TableFooter::kBytes), table.size());
  BlockCursor top(Block{nullptr, part_at(table, 0, footer->index)});
  uint64_t sections = 0;
  uint64_t sections_bytes = 0;
  for (top.seek_first(); top.valid(); top.next()) {
    const auto section = SectionHandle::decode(top.row().value);
    ++sections;
    sections_bytes += section->block.length;
    rows_bytes += section->rows_bytes;
  }
  EXPECT_GT(sections, 10u);
  EXPECT_LE(sections_bytes, ids.size() * 5 / 2);
  EXPECT_LE(footer->index.length, ids.size() / 12);
  EXPECT_GT(rows_bytes, ids.size() * 100);
}

RC_GTEST_PROP(Section, GarbageIsNoSection, (const std::string& bytes)) {
  const auto parts = SectionParts::of(bytes);
  if (parts) RC_ASSERT(parts->filter.size() + parts->index.size() < bytes.size());
  const auto handle = SectionHandle::decode(bytes);
  if (handle) RC_ASSERT(handle->begin() >= kTableHeaderBytes);
}

}  // namespace
}  // namespace morula
