#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/store/conditional_fixture.hpp"
#include "tests/store/idle_store.hpp"

namespace morula::store_test {
namespace {

std::optional<Result<std::optional<StoredObject>>> get(TestWorld& world) {
  std::optional<Result<std::optional<StoredObject>>> found;
  world.run([&](const Env& env) { found = get_object(env, "key", Purpose::kDataRead, {}); });
  return found;
}

TEST(GetObject, RepeatsUntilItIsAnswered) {
  TestWorld world;
  world.store().plant("key", "content");
  follow(world, {{{kGet, 0}, request_lost()},
                 {{kGet, 1}, answer_lost()},
                 {{kGet, 2}, refused(ErrorCode::kThrottled)},
                 {{kGet, 3}, refused(ErrorCode::kUnavailable)},
                 {{kGet, 4}, refused(ErrorCode::kCorrupt)}});
  const auto found = get(world);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ(*(**found)->body, "content");
}

TEST(GetObject, TellsAbsence) {
  TestWorld world;
  const auto found = get(world);
  ASSERT_TRUE(found->has_value());
  EXPECT_FALSE((*found)->has_value());
}

TEST(GetObject, NeverTakesMissingPermissionForAbsence) {
  TestWorld world;
  follow(world, {{{kGet, 0}, refused(ErrorCode::kDenied)}});
  EXPECT_EQ(get(world)->error().code, ErrorCode::kDenied);
}

TEST(GetObject, ReportsDamageThatStays) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest&) { return refused(ErrorCode::kCorrupt); });
  EXPECT_EQ(get(world)->error().code, ErrorCode::kCorrupt);
}

std::vector<std::string> list(TestWorld& world, const std::string& prefix,
                              const std::string& after) {
  std::vector<std::string> keys;
  world.run([&](const Env& env) {
    const auto objects = list_objects(env, prefix, after, Purpose::kOwnership, {});
    for (const ObjectInfo& object : *objects) keys.push_back(object.key);
  });
  return keys;
}

TEST(ListObjects, GathersAllPagesAndRepeatsThem) {
  TestWorld world;
  world.store().set_manners({.abilities = {}, .page_keys_max = 2});
  for (const char* key : {"a/1", "a/2", "a/3", "a/4", "a/5", "b/1"}) world.store().plant(key, "x");
  follow(world, {{{StoreCall::kList, 1}, request_lost()},
                 {{StoreCall::kList, 3}, refused(ErrorCode::kUnavailable)}});
  EXPECT_EQ(list(world, "a/", ""), (std::vector<std::string>{"a/1", "a/2", "a/3", "a/4", "a/5"}));
  EXPECT_EQ(world.store().sent(StoreCall::kList), 5u);
  EXPECT_EQ(list(world, "a/", "a/3"), (std::vector<std::string>{"a/4", "a/5"}));
  EXPECT_TRUE(list(world, "c/", "").empty());
}

/// A store whose listings are wrong in a way that would go on for ever or miss objects.
class WrongListing final : public IdleStore {
 public:
  explicit WrongListing(Listing page) : page_(std::move(page)) {}
  Result<Listing> list(std::string_view, std::string_view, size_t, const RequestOptions&) override {
    return page_;
  }

 private:
  Listing page_;
};

TEST(ListObjects, RefusesPagesThatDoNotGetAhead) {
  const std::vector<Listing> wrong = {
      {{{"a/1", 1}, {"a/2", 1}}, true},   // the same page again and again
      {{}, true},                         // more after nothing
      {{{"a/2", 1}, {"a/1", 1}}, false},  // out of order
      {{{"a/1", 1}, {"a/1", 1}}, false},  // one twice
      {{{"b/1", 1}}, false},              // strays from the prefix
  };
  for (const Listing& page : wrong) {
    TestWorld world;
    world.run([&](const Env& env) {
      WrongListing store(page);
      const Env with_it{env.domain, env.clock,   env.network,  store,
                        env.random, env.compute, env.platform, env.trace};
      const auto objects = list_objects(with_it, "a/", "", Purpose::kOwnership, {});
      ASSERT_FALSE(objects.has_value());
      EXPECT_EQ(objects.error().code, ErrorCode::kCorrupt);
    });
  }
}

}  // namespace
}  // namespace morula::store_test
