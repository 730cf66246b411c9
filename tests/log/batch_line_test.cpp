#include "core/log/batch_line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "core/base/mutant.hpp"
#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

void cut_one(BatchLine& line) {
  line.open(1);
  line.add(StreamId{}, "x");
  line.cut(WallTime{});
}

TEST(BatchLine, SendsNoFurtherThanItsWindowSpans) {
  BatchLine line(kOwner, 3);
  for (int i = 0; i < 5; ++i) cut_one(line);
  const auto first = line.send();
  const auto second = line.send();
  const auto third = line.send();
  EXPECT_FALSE(line.may_send());
  // Two of three have landed, and the hole below them still holds back what is above.
  EXPECT_FALSE(line.land(*second));
  EXPECT_FALSE(line.land(*third));
  EXPECT_FALSE(line.may_send());
  EXPECT_EQ(line.acknowledged(), LogSeq(0));
  EXPECT_TRUE(line.land(*first));
  EXPECT_EQ(line.acknowledged(), LogSeq(3));
  EXPECT_TRUE(line.may_send());
  EXPECT_EQ(line.send()->seq, LogSeq(3));
}

TEST(BatchLine, FreesTheBytesOfWhatHasLanded) {
  BatchLine line(kOwner, 3);
  cut_one(line);
  cut_one(line);
  EXPECT_GT(line.unsent_bytes(), 2 * kLogFenceBytes);
  const auto first = line.send();
  const auto second = line.send();
  EXPECT_EQ(line.unsent_bytes(), 0u);
  std::weak_ptr<const std::string> bytes = second->bytes;
  line.land(*second);
  EXPECT_TRUE(bytes.expired()) << "even below a hole";
}

TEST(BatchLine, CountsTheOpenBatchAsUnsent) {
  BatchLine line(kOwner, 3);
  EXPECT_EQ(line.unsent_bytes(), 0u);
  line.open(1);
  line.add(StreamId{}, std::string(1000, 'x'));
  EXPECT_EQ(line.unsent_bytes(), line.open_bytes());
  EXPECT_GT(line.open_bytes(), 1000u);
  EXPECT_EQ(line.to_send(), nullptr);
  const uint64_t bytes = line.open_bytes();
  line.cut(WallTime{});
  EXPECT_EQ(line.unsent_bytes(), bytes);
  EXPECT_EQ(line.to_send()->size, bytes);
}

/// Against the plain words of R1: sets of seqs, and what they allow.
RC_GTEST_PROP(BatchLine, AllowsExactlyWhatTheRuleAllows, ()) {
  const auto window = *rc::gen::inRange<uint64_t>(1, 6);
  BatchLine line(kOwner, window);
  uint64_t cut = 0;
  uint64_t sent = 0;
  std::set<uint64_t> landed;
  std::vector<std::shared_ptr<LogBatch>> in_flight;
  const auto acknowledged = [&] {
    uint64_t all_below = 0;
    while (landed.contains(all_below)) ++all_below;
    return all_below;
  };
  for (const auto draw : *rc::gen::container<std::vector<uint8_t>>(rc::gen::arbitrary<uint8_t>())) {
    if (draw % 3 == 0) {
      cut_one(line);
      ++cut;
    } else if (draw % 3 == 1 && line.may_send() && line.to_send() != nullptr) {
      in_flight.push_back(line.send());
      RC_ASSERT(in_flight.back()->seq == LogSeq(sent));
      ++sent;
    } else if (!in_flight.empty()) {
      const auto chosen = in_flight.begin() + (draw / 3) % in_flight.size();
      const uint64_t before = acknowledged();
      landed.insert((*chosen)->seq.value);
      RC_ASSERT(line.land(**chosen) == (acknowledged() > before));
      in_flight.erase(chosen);
    }
    RC_ASSERT(line.acknowledged() == LogSeq(acknowledged()));
    RC_ASSERT(line.next() == LogSeq(cut));
    RC_ASSERT(line.in_flight() == in_flight.size());
    RC_ASSERT((line.to_send() != nullptr) == (sent < cut));
    RC_ASSERT(line.may_send() == (sent < window || landed.contains(sent - window)));
    for (uint64_t seq = 0; seq < cut + 2; ++seq) {
      const auto batch = line.find(LogSeq(seq));
      RC_ASSERT((batch != nullptr) == (seq >= acknowledged() && seq < cut));
      if (batch) RC_ASSERT(!batch->settled.is_set());
    }
  }
}

}  // namespace
}  // namespace morula::log_test
