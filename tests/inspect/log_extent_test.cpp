#include "core/inspect/log_extent.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace morula {
namespace {

std::vector<ListedLogObject> batches(const std::set<uint64_t>& seqs) {
  std::vector<ListedLogObject> listed;
  listed.reserve(seqs.size());
  for (const uint64_t seq : seqs) listed.push_back({LogSeq(seq), false});
  return listed;
}

TEST(LogExtent, EndsAtTheFirstBatchThatMayNeverHaveBeen) {
  EXPECT_EQ(log_extent({}, LogSeq(5), 2).end, LogSeq(5));
  EXPECT_EQ(log_extent(batches({5, 6, 7}), LogSeq(5), 2).end, LogSeq(8));
  const LogExtent gap = log_extent(batches({5, 7}), LogSeq(5), 2);
  EXPECT_EQ(gap.end, LogSeq(6));
  EXPECT_TRUE(gap.holes.empty()) << "6 was on its way when 7 was sent";
  EXPECT_EQ(log_extent(batches({5, 8}), LogSeq(5), 2).holes, std::vector<LogSeq>{LogSeq(6)});
}

TEST(LogExtent, EndsAtAFenceThatCounts) {
  std::vector<ListedLogObject> listed = batches({5, 6});
  listed.push_back({LogSeq(7), true});
  listed.push_back({LogSeq(8), false});
  const LogExtent fenced = log_extent(listed, LogSeq(5), 2);
  EXPECT_TRUE(fenced.fenced);
  EXPECT_EQ(fenced.end, LogSeq(7));
  EXPECT_TRUE(fenced.holes.empty());
  listed.erase(listed.begin() + 1);
  EXPECT_EQ(log_extent(listed, LogSeq(5), 2).holes, std::vector<LogSeq>{LogSeq(6)})
      << "below a fence everything has landed";
  listed = batches({5, 6, 8, 9});
  listed.insert(listed.begin() + 2, {LogSeq(7), true});
  EXPECT_FALSE(log_extent(listed, LogSeq(5), 2).fenced) << "something lies beyond f+W-1";
}

/// A writer that keeps to the window, stopped anywhere: what it has acknowledged, and what landed.
struct Stopped {
  std::set<uint64_t> landed;
  uint64_t acknowledged = 0;
};

Stopped write(uint64_t window) {
  Stopped log;
  uint64_t sent = 0;
  const int steps = *rc::gen::inRange(0, 120);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::arbitrary<bool>() && sent < log.acknowledged + window) {
      ++sent;
    } else if (sent > 0) {
      log.landed.insert(sent - 1 - *rc::gen::inRange<uint64_t>(0, std::min(sent, window)));
    }
    while (log.landed.contains(log.acknowledged)) ++log.acknowledged;
  }
  return log;
}

RC_GTEST_PROP(LogExtent, NeverAccusesAWriterAndNeverCutsWhatItAcknowledged, ()) {
  const auto window = *rc::gen::inRange<uint64_t>(1, 9);
  const Stopped log = write(window);
  const auto from = *rc::gen::inRange<uint64_t>(0, log.acknowledged + 1);
  std::vector<ListedLogObject> listed = batches(log.landed);
  std::erase_if(listed, [&](const ListedLogObject& object) { return object.seq < LogSeq(from); });
  const LogExtent extent = log_extent(listed, LogSeq(from), window);
  RC_ASSERT(extent.holes.empty());
  RC_ASSERT(extent.end >= LogSeq(log.acknowledged));
  RC_ASSERT(!extent.fenced);
}

RC_GTEST_PROP(LogExtent, TellsEachBatchThatHasLandedForCertainAndIsGone, ()) {
  const auto window = *rc::gen::inRange<uint64_t>(1, 9);
  const auto highest = *rc::gen::inRange<uint64_t>(window, 60);
  std::set<uint64_t> landed;
  for (uint64_t seq = 0; seq <= highest; ++seq) {
    const bool certain = seq + window <= highest || seq == highest;
    if (certain || *rc::gen::arbitrary<bool>()) landed.insert(seq);
  }
  const auto lost = *rc::gen::inRange<uint64_t>(0, highest - window + 1);
  landed.erase(lost);
  const LogExtent extent = log_extent(batches(landed), LogSeq(0), window);
  RC_ASSERT(extent.holes == std::vector<LogSeq>{LogSeq(lost)});
  RC_ASSERT(extent.end > LogSeq(lost));
}

}  // namespace
}  // namespace morula
