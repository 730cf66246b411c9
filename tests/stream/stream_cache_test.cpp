#include "core/stream/stream_cache.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

StreamId stream(uint64_t number) {
  return {number, number};
}

TEST(StreamCache, KeepsTheStreamsUsedLast) {
  StreamCache cache(2);
  StreamState* first = cache.get(stream(1)).get();
  cache.get(stream(2));
  EXPECT_EQ(cache.get(stream(1)).get(), first);
  cache.get(stream(1))->loaded = true;
  cache.get(stream(3));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_TRUE(cache.get(stream(1))->loaded);
  cache.get(stream(2))->loaded = true;
  cache.get(stream(4));
  cache.get(stream(5));
  EXPECT_FALSE(cache.get(stream(1))->loaded) << "a state that is gone comes back fresh";
}

TEST(StreamCache, AStateThatSomebodyHoldsStays) {
  StreamCache cache(1);
  const StreamStatePtr held = cache.get(stream(1));
  for (uint64_t i = 2; i < 20; ++i) cache.get(stream(i));
  EXPECT_EQ(cache.get(stream(1)), held);
  EXPECT_EQ(cache.size(), 2u) << "the held one, and the last of the others";
}

TEST(StreamCache, AStateWhoseLastChangeIsNotAcknowledgedStays) {
  StreamCache cache(1);
  cache.get(stream(1))->position = LogSeq(7);
  cache.acknowledged(LogSeq(6));
  for (uint64_t i = 2; i < 20; ++i) cache.get(stream(i));
  EXPECT_EQ(cache.get(stream(1))->position, LogSeq(7));
  cache.acknowledged(LogSeq(7));
  cache.acknowledged(LogSeq(3));
  for (uint64_t i = 2; i < 20; ++i) cache.get(stream(i));
  EXPECT_EQ(cache.get(stream(1))->position, std::nullopt);
  EXPECT_LE(cache.size(), 2u);
}

TEST(StreamCache, ShrinksAgainOnceItMay) {
  StreamCache cache(4);
  for (uint64_t i = 0; i < 100; ++i) cache.get(stream(i))->position = LogSeq(i);
  EXPECT_EQ(cache.size(), 100u);
  cache.acknowledged(LogSeq(99));
  for (uint64_t i = 100; i < 120; ++i) cache.get(stream(i));
  EXPECT_EQ(cache.size(), 4u);
}

TEST(StreamCache, ForgetsTheStatesOfOneSpaceWhoeverHoldsThem) {
  StreamCache cache(10);
  const auto place = [](uint64_t half, uint64_t number) {
    return StreamId{half << 63 | number, number};
  };
  std::vector<StreamStatePtr> held;
  for (uint64_t i = 0; i < 3; ++i) {
    for (const uint64_t half : {0, 1}) held.push_back(cache.get(place(half, i)));
  }
  cache.get(place(1, 0))->position = LogSeq(7);
  cache.forget(*Prefix::parse("1"));
  EXPECT_EQ(cache.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(held[2 * i]->gone);
    EXPECT_EQ(cache.get(place(0, i)), held[2 * i]);
    EXPECT_TRUE(held[2 * i + 1]->gone);
    EXPECT_FALSE(cache.get(place(1, i))->gone);
  }
  cache.forget({});
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace morula
