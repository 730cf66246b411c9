#include "core/stream/producer.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

using enum ProducerVerdict;

TEST(Producer, AnUnknownOneBeginsWithSeqZeroOfAnyEpoch) {
  EXPECT_EQ(judge_producer(std::nullopt, 0, 0), kNew);
  EXPECT_EQ(judge_producer(std::nullopt, 7, 0), kNew);
  EXPECT_EQ(judge_producer(std::nullopt, 0, 1), kSequenceGap);
}

TEST(Producer, IsJudgedByEpochFirstThenBySeq) {
  const ProducerRow known{5, 3, {}};
  EXPECT_EQ(judge_producer(known, 4, 0), kStaleEpoch);
  EXPECT_EQ(judge_producer(known, 4, 4), kStaleEpoch);
  EXPECT_EQ(judge_producer(known, 5, 0), kDuplicate);
  EXPECT_EQ(judge_producer(known, 5, 3), kDuplicate);
  EXPECT_EQ(judge_producer(known, 5, 4), kNew);
  EXPECT_EQ(judge_producer(known, 5, 5), kSequenceGap);
  EXPECT_EQ(judge_producer(known, 6, 0), kNew);
  EXPECT_EQ(judge_producer(known, 6, 1), kEpochNotAtZero);
  EXPECT_EQ(judge_producer(known, 6, 4), kEpochNotAtZero);
}

TEST(Producer, TheCacheKeepsThoseUsedLast) {
  ProducerCache cache;
  cache.put("a", {1, 0, {}}, 2);
  cache.put("b", {2, 0, {}}, 2);
  EXPECT_NE(cache.find("a"), nullptr);
  cache.put("c", {3, 0, {}}, 2);
  EXPECT_EQ(cache.find("b"), nullptr);
  ASSERT_NE(cache.find("a"), nullptr);
  cache.put("a", {1, 9, {}}, 2);
  EXPECT_EQ(cache.find("a")->seq, 9u);
  EXPECT_EQ(cache.find("c")->epoch, 3u);
}

}  // namespace
}  // namespace morula
