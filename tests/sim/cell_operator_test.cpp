#include "sim/clients/cell_operator.hpp"

#include <gtest/gtest.h>

#include <set>

#include "invariants/cell_answers.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"
#include "tests/api/fake_cell.hpp"

namespace morula::sim {
namespace {

using invariants::CellAnswers;

const Prefix kRoot;
const Prefix kLow = *Prefix::parse("0");

/// The topology is remembered by each version.
struct Watched : FakeControl {
  Watched(FakeCell& cell, std::string name, CellAnswers& answers)
      : FakeControl(cell, std::move(name)), cell_(cell), answers_(answers) {}
  Result<Changed> split(Prefix prefix) override { return seen(FakeControl::split(prefix)); }
  Result<Changed> merge(Prefix prefix) override { return seen(FakeControl::merge(prefix)); }
  Result<Changed> move(Prefix prefix, const IncarnationId& to) override {
    return seen(FakeControl::move(prefix, to));
  }
  Result<Changed> seen(Result<Changed> done) {
    answers_.written(cell_.topology);
    return done;
  }

  FakeCell& cell_;
  CellAnswers& answers_;
};

struct Node {
  Node(TestWorld& world, FakeCell& cell, const std::string& name, CellAnswers& answers)
      : control(cell, name, answers), api(world, name, &control) {
    cell.add(name, api.address);
  }
  Watched control;
  ApiNode api;
};

TEST(CellOperator, AsksForAllKindsOfChangesAndIsAnsweredTruly) {
  TestWorld world(7);
  FakeCell cell;
  CellAnswers answers;
  std::deque<Node> nodes;
  for (const char* name : {"i1", "i2", "i3"}) nodes.emplace_back(world, cell, name, answers);
  cell.own({{"root", "i1"}});
  answers.written(cell.topology);

  OperatorHabits habits;
  habits.relocations = 1;
  habits.two_at_once = 3;
  std::deque<CellOperator> people;
  std::multiset<CellStep::Kind> done;
  std::vector<std::string> wrong;
  const std::vector<std::string> names = {"i1", "i2", "i3"};
  std::vector<std::string> addresses;
  addresses.reserve(nodes.size());
  for (Node& node : nodes) addresses.push_back(node.api.address);
  for (const char* name : {"o1", "o2"}) {
    CellOperator& person = people.emplace_back(addresses, names, habits);
    person.now = [&] { return answers.latest(); };
    person.on_done = [&](const CellStep& step, const Changed& answer, Version asked_at) {
      if (answer.changed) done.insert(step.kind);
      const std::string what = answers.wrong_with(step, answer, asked_at);
      if (!what.empty()) wrong.push_back(what);
    };
    person.on_unexpected = [&](const std::string& what) { wrong.push_back(what); };
    world.add(name).spawn("work", [&](const Env& env) {
      const Time until = env.clock.now() + std::chrono::minutes(2);
      person.run(env, [&env, until] { return env.clock.now() < until; });
    });
  }
  world.pass(std::chrono::minutes(4));
  for (const CellOperator& person : people) {
    EXPECT_TRUE(person.done());
    EXPECT_GT(person.operations(), 100u);
  }
  EXPECT_EQ(wrong, std::vector<std::string>());
  for (const auto kind : {CellStep::Kind::kSplit, CellStep::Kind::kMerge, CellStep::Kind::kMove}) {
    EXPECT_GE(done.count(kind), 5u);
  }
  for (Node& node : nodes) node.api.process.kill();
  world.pass(Duration(0));
}

TEST(CellAnswers, AreWrongWhereTheTopologyTheyNameIsNotSo) {
  FakeCell cell;
  cell.add("i1", "a");
  cell.add("i2", "b");
  CellAnswers answers;
  const auto at = [&](const std::vector<std::pair<std::string, std::string>>& shards) {
    cell.own(shards);
    answers.written(cell.topology);
    return cell.topology.version;
  };
  const Version whole = at({{"root", "i1"}});
  const Version split = at({{"0", "i1"}, {"1", "i1"}});
  const Version moved = at({{"0", "i2"}, {"1", "i1"}});
  const CellStep split_root{CellStep::Kind::kSplit, kRoot, ""};
  const CellStep merge_root{CellStep::Kind::kMerge, kRoot, ""};
  const CellStep move_low{CellStep::Kind::kMove, kLow, "i2"};
  EXPECT_EQ(answers.wrong_with(split_root, {true, split}, whole), "");
  EXPECT_EQ(answers.wrong_with(split_root, {false, moved}, whole), "");
  EXPECT_EQ(answers.wrong_with(merge_root, {false, whole}, whole), "");
  EXPECT_EQ(answers.wrong_with(move_low, {true, moved}, split), "");
  EXPECT_NE(answers.wrong_with(split_root, {true, whole}, whole), "");
  EXPECT_NE(answers.wrong_with(split_root, {true, moved}, split), "") << "it was split before";
  EXPECT_NE(answers.wrong_with(merge_root, {true, split}, whole), "");
  EXPECT_NE(answers.wrong_with(move_low, {false, split}, whole), "");
  EXPECT_NE(answers.wrong_with(move_low, {false, moved + 1}, whole), "") << "there is none";
}

}  // namespace
}  // namespace morula::sim
