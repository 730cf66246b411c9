#include "invariants/spec/state_space.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "invariants/spec/values.hpp"

namespace morula::spec {
namespace {

struct Inner {
  int number = 0;
  bool flag = false;
  static constexpr auto kFields = std::tuple(&Inner::number, &Inner::flag);
  auto operator<=>(const Inner&) const = default;
};

struct Outer {
  std::vector<Inner> list;
  Set<Inner> set;
  int last = 0;
  static constexpr auto kFields = std::tuple(&Outer::list, &Outer::set, &Outer::last);
  bool operator==(const Outer&) const = default;
};

Inner any_inner() {
  return {*rc::gen::inRange(-1, 100000), *rc::gen::arbitrary<bool>()};
}

Outer any_outer() {
  Outer outer;
  outer.list = *rc::gen::container<std::vector<Inner>>(rc::gen::exec(any_inner));
  for (const Inner& item : *rc::gen::container<std::vector<Inner>>(rc::gen::exec(any_inner))) {
    outer.set.insert(item);
  }
  outer.last = *rc::gen::inRange(-1, 300);
  return outer;
}

RC_GTEST_PROP(Values, AreReadBackFromTheirBytes, ()) {
  const Outer in = any_outer();
  Outer out = any_outer();
  StateEncoder encoder;
  StateDecoder().decode(std::string(encoder.encode(in)), out);
  RC_ASSERT(in == out);
}

RC_GTEST_PROP(Values, OfASetDependOnItsElementsOnly, (std::vector<int> items)) {
  Set<int> forwards;
  Set<int> backwards;
  for (const int item : items) forwards.insert(item);
  for (auto item = items.rbegin(); item != items.rend(); ++item) backwards.insert(*item);
  RC_ASSERT(forwards == backwards);
  RC_ASSERT(static_cast<size_t>(forwards.size()) ==
            std::set<int>(items.begin(), items.end()).size());
  for (const int item : items) RC_ASSERT(forwards.contains(item));
}

TEST(Values, SubsetsAreAllOfThem) {
  const auto subsets = subsets_of(Set<int>{1, 2, 3});
  EXPECT_EQ(subsets.size(), 8U);
  Set<Set<int>> different;
  for (const auto& subset : subsets) different.insert(subset);
  EXPECT_EQ(different.size(), 8);
}

RC_GTEST_PROP(StateSpace, KeepsEachStateOnceWithItsFirstParent, ()) {
  StateSpace space;
  std::map<std::string, StateSpace::Id> model;
  std::vector<StateSpace::Id> parents;
  const auto states = *rc::gen::inRange(0, 5000);
  const auto different = *rc::gen::inRange(1, 3000);
  for (int n = 0; n < states; ++n) {
    const auto number = static_cast<uint32_t>(n) * 2654435761U % static_cast<uint32_t>(different);
    const std::string bytes = "state " + std::to_string(number);
    const StateSpace::Id parent = n == 0 ? StateSpace::kNone : space.size() - 1;
    const auto id = space.add(bytes, parent);
    RC_ASSERT(id.has_value() == !model.contains(bytes));
    if (!id) continue;
    RC_ASSERT(*id == model.size());
    model[bytes] = *id;
    parents.push_back(parent);
  }
  RC_ASSERT(space.size() == model.size());
  for (const auto& [bytes, id] : model) {
    RC_ASSERT(space.bytes(id) == bytes);
    RC_ASSERT(space.parent(id) == parents[id]);
  }
}

TEST(StateSpace, HoldsMoreThanOneBlock) {
  StateSpace space;
  for (int n = 0; n < 40; ++n) {
    std::string bytes(size_t{1} << 20, static_cast<char>('a' + n));
    ASSERT_TRUE(space.add(bytes, StateSpace::kNone));
  }
  for (int n = 0; n < 40; ++n) {
    EXPECT_EQ(space.bytes(static_cast<StateSpace::Id>(n)).front(), static_cast<char>('a' + n));
  }
  EXPECT_GE(space.memory_bytes(), uint64_t{40} << 20);
}

}  // namespace
}  // namespace morula::spec
