#include "core/log/log_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

using sim::StoreFate;
using sim::StoreRequest;
using sim::TestWorld;

const StreamId kStream{1, 2};

TEST(LogWriter, AQuietAppendTakesOnePut) {
  TestWorld world;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time before = env.clock.now();
    const LogSeq seq = log.append(kStream, "hello");
    EXPECT_EQ(seq, LogSeq(0));
    EXPECT_EQ(log.acknowledged(), LogSeq(0));
    EXPECT_TRUE(log.wait_acknowledged(seq));
    EXPECT_EQ(env.clock.now() - before, milliseconds(4));
    EXPECT_EQ(log.acknowledged(), LogSeq(1));
  });
  EXPECT_EQ(world.store().sent(), 1u);
  const LogObject object = object_at(world, 0);
  EXPECT_EQ(object.incarnation, kOwner);
  ASSERT_EQ(object.records.size(), 1u);
}

}  // namespace
}  // namespace morula::log_test
