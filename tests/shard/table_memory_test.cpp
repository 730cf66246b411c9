#include "core/shard/table_memory.hpp"

#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

class TableMemoryTest : public FiberTest {
 protected:
  TableMemoryTest() : budget_(MemoryShares{.flushes = 100, .compactions = 200}), tables_(budget_) {}

  void flush(const char* name, uint64_t bytes) {
    scope_.spawn(name, [this, name, bytes] {
      const TableMemory::Room room = tables_.for_flush(bytes);
      note(name);
      end_.wait();
    });
  }
  void merge(const char* name, uint64_t bytes) {
    scope_.spawn(name, [this, name, bytes] {
      const TableMemory::Room room = tables_.for_compaction(bytes);
      note(name);
      end_.wait();
    });
  }

  WaitList end_;  // of the one that began first
  MemoryBudget budget_;
  TableMemory tables_;
};

TEST_F(TableMemoryTest, MergesOfAllShardsTakeNoMoreThanIsSetAsideForThem) {
  merge("first", 120);
  merge("second", 120);
  merge("third", 80);
  run();
  EXPECT_EQ(log_, Log{"first"});
  end_.wake_one();
  run();
  EXPECT_EQ(log_, (Log{"first", "second", "third"}));
  EXPECT_EQ(budget_.compactions.used(), 200u);
  EXPECT_EQ(budget_.compactions.peak(), 200u);
  end_.wake_all();
  run();
  EXPECT_EQ(budget_.compactions.used(), 0u);
}

TEST_F(TableMemoryTest, AFlushDoesNotWaitForMerges) {
  merge("merge", 500);
  flush("flush", 70);
  flush("next flush", 70);
  run();
  EXPECT_EQ(log_, (Log{"merge", "flush"}));
  end_.wake_all();
  run();
  EXPECT_EQ(log_.back(), "next flush");
  end_.wake_all();
  run();
}

TEST_F(TableMemoryTest, WhatIsLargerThanAllOfItGoesAlone) {
  merge("small", 10);
  merge("huge", 1000);
  run();
  EXPECT_EQ(log_, Log{"small"});
  end_.wake_all();
  run();
  EXPECT_EQ(log_.back(), "huge");
  EXPECT_EQ(budget_.compactions.used(), 1000u) << "accounted for as it is";
  end_.wake_all();
  run();
}

}  // namespace
}  // namespace morula
