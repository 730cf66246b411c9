#include "core/lsm/row.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>

namespace morula {
namespace {

StreamId id_of(uint64_t high, uint64_t low) {
  return {high, low};
}

RC_GTEST_PROP(RowKey, MetaKeysAreReadBack,
              (uint64_t high, uint64_t low, uint64_t generation, const std::string& producer)) {
  const std::string key =
      row_key::meta(id_of(high, low), Generation(generation), RowKind::kProducer, producer);
  const auto parts = row_key::parse(Tree::kMeta, key);
  RC_ASSERT(parts.has_value());
  RC_ASSERT(parts->id == id_of(high, low));
  RC_ASSERT(parts->generation == Generation(generation));
  RC_ASSERT(parts->kind == RowKind::kProducer);
  RC_ASSERT(parts->suffix == producer);
  RC_ASSERT(row_key::stream_id(key) == id_of(high, low));
  RC_ASSERT(key.starts_with(row_key::stream(id_of(high, low))));
  RC_ASSERT(key.starts_with(row_key::generation(id_of(high, low), Generation(generation))));
}

RC_GTEST_PROP(RowKey, DataKeysAreReadBack,
              (uint64_t high, uint64_t low, uint64_t generation, uint64_t messages,
               uint64_t bytes)) {
  const std::string key =
      row_key::data(id_of(high, low), Generation(generation), Offset{messages, bytes});
  const auto parts = row_key::parse(Tree::kData, key);
  RC_ASSERT(parts.has_value());
  RC_ASSERT(parts->id == id_of(high, low));
  RC_ASSERT(parts->generation == Generation(generation));
  RC_ASSERT(parts->end == (Offset{messages, bytes}));
}

RC_GTEST_PROP(RowKey, KeysSortByStreamThenNewestGenerationThenOffset, ()) {
  using Place = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;
  const auto small = rc::gen::element<uint64_t>(0, 1, 255, 256, UINT64_MAX);
  const auto place = rc::gen::tuple(small, small, small, small, small);
  const auto key_of = [](const Place& p) {
    return row_key::data(id_of(std::get<0>(p), std::get<1>(p)), Generation(~std::get<2>(p)),
                         Offset{std::get<3>(p), std::get<4>(p)});
  };
  const Place a = *place;
  const Place b = *place;
  RC_ASSERT((a <=> b) == (key_of(a) <=> key_of(b)));
}

TEST(RowKey, TheHotRowOfTheNewestGenerationIsAStreamsFirst) {
  const StreamId id = id_of(1, 2);
  const std::string newest_hot = row_key::meta(id, Generation(9), RowKind::kHot);
  EXPECT_LE(row_key::stream(id), newest_hot);
  EXPECT_LT(newest_hot, row_key::meta(id, Generation(9), RowKind::kDescriptor));
  EXPECT_LT(newest_hot, row_key::meta(id, Generation(9), RowKind::kProducer, ""));
  EXPECT_LT(newest_hot, row_key::meta(id, Generation(8), RowKind::kHot));
}

TEST(RowKey, OtherBytesAreNoKey) {
  const std::string hot = row_key::meta(id_of(1, 2), Generation(1), RowKind::kHot);
  const std::string data = row_key::data(id_of(1, 2), Generation(1), Offset{1, 1});
  EXPECT_EQ(row_key::parse(Tree::kMeta, hot.substr(0, 24)).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(row_key::parse(Tree::kMeta, hot + "x"));
  EXPECT_FALSE(
      row_key::parse(Tree::kMeta, row_key::generation(id_of(1, 2), Generation(1)) + "\x7f"));
  EXPECT_FALSE(row_key::parse(Tree::kData, data.substr(1)));
  EXPECT_FALSE(row_key::parse(Tree::kData, data + "x"));
  EXPECT_FALSE(row_key::parse(Tree::kData, ""));
}

}  // namespace
}  // namespace morula
