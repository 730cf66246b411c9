#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "sim/clients/client.hpp"
#include "sim/world/world.hpp"
#include "tests/sim/model_server.hpp"

namespace morula::sim {
namespace {

using invariants::Invariant;
using invariants::OpKind;
using invariants::Outcome;

class NoObjects final : public invariants::ObjectView {
 public:
  const std::string* find(std::string_view /*key*/) const override { return nullptr; }
};

ProcessOptions named(std::string name) {
  ProcessOptions options;
  options.name = std::move(name);
  return options;
}

/// Clients at work on a model server, over a network that loses some messages.
class Town {
 public:
  explicit Town(uint64_t seed, Lie lie)
      : world_(seed),
        observer_([this] { return world_.now().time_since_epoch(); }, nothing_),
        server_(observer_, lie) {}

  const invariants::Violations& run(uint32_t loses_one_in) {
    Random fates = world_.random().fork();
    world_.network().set_fates([&](ProcessId, ProcessId, SimNetwork::Way) {
      CallFate fate;
      fate.delay = std::chrono::microseconds(fates.between(100, 40'000));
      fate.lost = loses_one_in > 0 && world_.now() < kActive && fates.chance(1, loses_one_in);
      return fate;
    });
    world_.add(named("server"), [this](const Env& env) {
      with_scope(env.domain, [&](Scope& requests) {
        env.network.serve(requests,
                          [this](const HttpRequest& request) { return server_.handle(request); });
        env.clock.sleep(std::chrono::hours(1));
      });
    });
    const std::vector<std::string> address = {SimNetwork::address_of("server")};
    for (uint32_t i = 1; i <= 5; ++i) {
      Random random = world_.random().fork();
      Client& client = clients_.emplace_back(
          i, address, std::vector<std::string>{"a", "b", "t:a"},
          ClientHabits::draw(random, std::chrono::milliseconds(100), i % 2 == 0), observer_);
      world_.add(named("c" + std::to_string(i)), [this, &client](const Env& env) {
        client.run(env, [this] { return world_.now() < kActive; });
      });
    }
    run_until_done();
    Client& reader =
        clients_.emplace_back(9, address, observer_.paths(), ClientHabits{}, observer_);
    world_.add(named("reader"), [&reader](const Env& env) { reader.read_all(env); });
    run_until_done();
    observer_.finish();
    return observer_.verdict();
  }

  const invariants::History& history() const { return observer_.history(); }

 private:
  static constexpr TrueTime kActive{std::chrono::seconds(30)};

  void run_until_done() {
    bool done = world_.run_until_true(
        [this] {
          for (const Client& client : clients_) {
            if (!client.done()) return false;
          }
          return true;
        },
        kActive + std::chrono::seconds(900));
    EXPECT_TRUE(done);
  }

  World world_;
  NoObjects nothing_;
  invariants::Observer observer_;
  ModelServer server_;
  std::deque<Client> clients_;
};

TEST(Clients, FindNothingWrongWithAServerThatKeepsItsPromises) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Town town(seed, Lie::kNone);
    const invariants::Violations& found = town.run(seed % 2 == 0 ? 20 : 0);
    EXPECT_TRUE(found.empty()) << to_string(found.kept().front());
  }
}

TEST(Clients, DoAllThatTheProtocolOffers) {
  std::set<OpKind> done;
  bool unknown = false;
  bool duplicate = false;
  bool conditional = false;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Town town(seed, Lie::kNone);
    town.run(20);
    for (invariants::OpRef ref = 0; ref < town.history().size(); ++ref) {
      const invariants::Op& op = town.history().op(ref);
      if (op.response.outcome == Outcome::kOk) done.insert(op.request.kind);
      unknown |= op.response.outcome == Outcome::kUnknown;
      duplicate |= op.response.duplicate;
      conditional |= op.request.expected && op.response.outcome == Outcome::kOk;
    }
  }
  EXPECT_EQ(done.size(), 6u);
  EXPECT_TRUE(unknown);
  EXPECT_TRUE(duplicate);
  EXPECT_TRUE(conditional);
}

void expect_caught(Lie lie, std::set<Invariant> as) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Town town(seed, lie);
    const invariants::Violations& found = town.run(0);
    ASSERT_FALSE(found.empty()) << "seed " << seed;
    EXPECT_TRUE(as.contains(found.kept().front().invariant)) << to_string(found.kept().front());
  }
}

TEST(Clients, FindOutAServerThatListsTooLittleOrTooMuch) {
  expect_caught(Lie::kListsTooLittle, {Invariant::kLinearizable});
  expect_caught(Lie::kListsTheDeleted, {Invariant::kLinearizable});
}

TEST(Clients, FindOutAServerThatForgetsAppends) {
  expect_caught(Lie::kForgetsAppends,
                {Invariant::kNothingLost, Invariant::kNothingTwice, Invariant::kLinearizable});
}

TEST(Clients, FindOutAServerThatDoesAppendsTwice) {
  expect_caught(Lie::kRepeatsAppends, {Invariant::kNothingTwice, Invariant::kLinearizable});
}

TEST(Clients, FindOutAServerThatShowsOldReads) {
  expect_caught(Lie::kShowsOldReads, {Invariant::kLinearizable});
}

TEST(Clients, FindOutAServerThatIgnoresStreamSeq) {
  size_t caught = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {  // not in every town do clients number appends
    Town town(seed, Lie::kIgnoresSequence);
    const invariants::Violations& found = town.run(0);
    if (found.empty()) continue;
    ++caught;
    EXPECT_EQ(found.kept().front().invariant, Invariant::kLinearizable);
  }
  EXPECT_GE(caught, 3u);
}

}  // namespace
}  // namespace morula::sim
