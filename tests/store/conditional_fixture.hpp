// What the tests of conditional writes share: a script of what becomes of each request, and one
// write of the object at "key" with what to expect of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/rt/clock.hpp"
#include "core/store/conditional.hpp"
#include "sim/world/test_world.hpp"
#include "tests/sim/fates.hpp"

namespace morula::store_test {

using sim::answer_lost;
using sim::flipped;
using sim::landing_after;
using sim::refused;
using sim::request_lost;
using sim::spoiled;
using sim::StoreCall;
using sim::StoreFate;
using sim::StoreRequest;
using sim::TestWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr StoreCall kPut = StoreCall::kPut;
constexpr StoreCall kGet = StoreCall::kGet;

/// The fate of the nth put, get or list, counted from 0 each; all others are the default.
using Script = std::map<std::pair<StoreCall, int>, StoreFate>;

inline void follow(TestWorld& world, Script script) {
  world.store().set_fates(
      [script, counts = std::map<StoreCall, int>()](const StoreRequest& request) mutable {
        const auto found = script.find({request.call, counts[request.call]++});
        return found == script.end() ? StoreFate{} : found->second;
      });
}

inline Result<ConditionalOutcome> create(TestWorld& world) {
  std::optional<Result<ConditionalOutcome>> outcome;
  world.run([&](const Env& env) {
    outcome = create_object(env, "key", make_blob("own"), Purpose::kOwnership, RetryConfig{});
  });
  return *outcome;
}

/// Of what lies there now; of an object that is gone, if nothing does.
inline Result<ConditionalOutcome> swap(TestWorld& world) {
  const auto base = world.store().objects().find("key");
  const Etag etag = base == world.store().objects().end() ? Etag("gone") : base->second.etag;
  std::optional<Result<ConditionalOutcome>> outcome;
  world.run([&](const Env& env) {
    outcome = swap_object(env, "key", make_blob("own"), etag, Purpose::kOwnership, RetryConfig{});
  });
  return *outcome;
}

inline void expect_landed(TestWorld& world, const Result<ConditionalOutcome>& outcome) {
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->landed);
  EXPECT_EQ(*outcome->body, "own");
  EXPECT_EQ(*world.store().peek("key"), "own");
  EXPECT_EQ(outcome->etag, world.store().objects().find("key")->second.etag);
}

inline void expect_lost_to(const Result<ConditionalOutcome>& outcome, const std::string& body) {
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  ASSERT_NE(outcome->body, nullptr);
  EXPECT_EQ(*outcome->body, body);
  EXPECT_FALSE(outcome->etag.empty());
}

}  // namespace morula::store_test
