#include "prod/counting_store.hpp"

#include <gtest/gtest.h>

#include "bench/memory_store.hpp"

namespace morula {
namespace {

const RequestOptions kForLog{kNever, Purpose::kLog};
const RequestOptions kForReads{kNever, Purpose::kDataRead};

TEST(CountingStore, CountsByPurpose) {
  MemoryStore within;
  CountingStore store(within);
  ASSERT_TRUE(store.put("a", make_blob("12345"), Precondition::if_absent(), kForLog));
  ASSERT_TRUE(store.get("a", std::nullopt, kForReads));
  ASSERT_TRUE(store.get("a", ByteRange{1, 2}, kForReads));
  ASSERT_TRUE(store.list("", "", 10, kForLog));
  EXPECT_EQ(store.count(Purpose::kLog).requests, 2u);
  EXPECT_EQ(store.count(Purpose::kLog).bytes_put, 5u);
  EXPECT_EQ(store.count(Purpose::kDataRead).requests, 2u);
  EXPECT_EQ(store.count(Purpose::kDataRead).bytes_gotten, 7u);
  EXPECT_EQ(store.count(Purpose::kHeartbeat).requests, 0u);
}

TEST(CountingStore, AnAnswerThatSaysNoIsNoFailure) {
  MemoryStore within;
  CountingStore store(within);
  ASSERT_TRUE(store.put("a", make_blob("1"), Precondition::if_absent(), kForLog));
  EXPECT_FALSE(store.put("a", make_blob("2"), Precondition::if_absent(), kForLog));
  EXPECT_FALSE(store.get("b", std::nullopt, kForLog));
  EXPECT_EQ(store.count(Purpose::kLog).failed, 0u);
  EXPECT_FALSE(store.get("a", ByteRange{7, 1}, kForLog));
  EXPECT_EQ(store.count(Purpose::kLog).failed, 1u);
}

}  // namespace
}  // namespace morula
