#include "invariants/lease_rules.hpp"

#include <gtest/gtest.h>

#include "core/fleet/member.hpp"
#include "core/rt/random.hpp"
#include "core/store/keys.hpp"
#include "invariants/adoption_rules.hpp"

namespace morula::invariants {
namespace {

using std::chrono::seconds;

class LeaseRulesTest : public testing::Test {
 protected:
  LeaseRulesTest() {
    rules_.watch([this](std::string_view) { return std::optional<Time>(local_); });
  }
  void renew(Duration until) {
    rules_.step({Step::kRenewLease, a_.text(), {}, static_cast<uint64_t>(until.count()), 1});
  }
  void write(const IncarnationId& incarnation, MemberState state, Duration lease = seconds(10)) {
    Member member;
    member.incarnation = incarnation;
    member.writer = b_;
    member.state = state;
    member.lease = lease;
    rules_.object_written(keys::member(incarnation.name), encode_member(member), seconds(1));
  }

  Random random_{1};
  const IncarnationId a_{"a", Ulid::draw(WallTime{1}, random_)};
  const IncarnationId b_{"b", Ulid::draw(WallTime{1}, random_)};
  Time local_{};
  Violations violations_;
  LeaseRules rules_{violations_};
};

TEST_F(LeaseRulesTest, AcceptsAnExpiryAfterTheHoldersLeaseIsOver) {
  renew(seconds(10));
  local_ = Time(seconds(10));
  write(a_, MemberState::kExpired);
  EXPECT_TRUE(violations_.empty());
}

TEST_F(LeaseRulesTest, FindsAnExpiryWhileTheHolderBelievesInItsLease) {
  renew(seconds(10));
  local_ = Time(seconds(10) - Duration(1));
  write(a_, MemberState::kExpired);
  ASSERT_EQ(violations_.count(), 1u);
  EXPECT_NE(violations_.kept()[0].message.find(b_.text() + " has set " + a_.text()),
            std::string::npos)
      << violations_.kept()[0].message;
}

TEST_F(LeaseRulesTest, BelievesThatTheDeadBelieveNothing) {
  renew(seconds(10));
  rules_.stopped("a");
  write(a_, MemberState::kExpired);
  EXPECT_TRUE(violations_.empty());
}

TEST_F(LeaseRulesTest, LetsALandedRenewalShortenTheBelief) {
  renew(seconds(30));
  local_ = Time(seconds(5));
  write(a_, MemberState::kLive, seconds(10));
  local_ = Time(seconds(15));
  write(a_, MemberState::kExpired);
  EXPECT_TRUE(violations_.empty());
}

TEST_F(LeaseRulesTest, DoesNotMistakeTheNextIncarnationForThisOne) {
  renew(seconds(10));
  write({"a", Ulid::draw(WallTime{2}, random_)}, MemberState::kExpired);
  EXPECT_TRUE(violations_.empty());
}

TEST(AdoptionRules, FindAnEntryThatBeginsAtASeqAlreadySent) {
  Violations violations;
  AdoptionRules rules(violations);
  rules.step({Step::kPutLog, "a-1", {}, 4, 0}, seconds(1));
  rules.step({Step::kAdopt, "a-1", "shards/0/x", 5, 0}, seconds(2));
  rules.step({Step::kAdopt, "b-1", "shards/0/x", 0, 0}, seconds(2));
  EXPECT_TRUE(violations.empty());
  rules.step({Step::kAdopt, "a-1", "shards/0/x", 4, 0}, seconds(3));
  EXPECT_EQ(violations.count(), 1u);
}

TEST(AdoptionRules, CountWhatWasSentBeforeTheManifestWas) {
  Violations violations;
  AdoptionRules rules(violations);
  rules.step({Step::kPutLog, "a-1", {}, 4, 0}, seconds(1));
  rules.manifest_sent("shards/0/x");
  rules.step({Step::kPutLog, "a-1", {}, 5, 0}, seconds(2));
  rules.step({Step::kAdopt, "a-1", "shards/0/x", 5, 0}, seconds(3));
  EXPECT_TRUE(violations.empty());
  rules.manifest_sent("shards/0/y");
  rules.step({Step::kAdopt, "a-1", "shards/0/y", 5, 0}, seconds(4));
  EXPECT_EQ(violations.count(), 1u);
}

}  // namespace
}  // namespace morula::invariants
