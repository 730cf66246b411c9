#include "core/store/conditional.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "sim/world/test_world.hpp"
#include "tests/log/weather.hpp"

namespace morula {
namespace {

using sim::StoreCall;
using sim::StoreFate;
using sim::StoreRequest;
using sim::TestWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The fate of the nth put, get or list, counted from 0 each; all others are the default.
using Script = std::map<std::pair<StoreCall, int>, StoreFate>;

void follow(TestWorld& world, Script script) {
  world.store().set_fates(
      [script, counts = std::map<StoreCall, int>()](const StoreRequest& request) mutable {
        const auto found = script.find({request.call, counts[request.call]++});
        return found == script.end() ? StoreFate{} : found->second;
      });
}

StoreFate answer_lost() {
  StoreFate fate;
  fate.answered = false;
  return fate;
}
StoreFate request_lost() {
  StoreFate fate;
  fate.lands = false;
  return fate;
}
StoreFate refused(ErrorCode code) {
  StoreFate fate;
  fate.refused = code;
  return fate;
}
StoreFate spoiled(ErrorCode code) {
  StoreFate fate;
  fate.spoiled = code;
  return fate;
}
StoreFate landing_after(Duration duration) {
  StoreFate fate;
  fate.to_store = duration;
  return fate;
}
StoreFate flipped() {
  StoreFate fate;
  fate.flips_bit = true;
  return fate;
}

constexpr StoreCall kPut = StoreCall::kPut;
constexpr StoreCall kGet = StoreCall::kGet;

Result<ConditionalOutcome> create(TestWorld& world, const std::string& body = "own",
                                  Purpose purpose = Purpose::kOwnership) {
  std::optional<Result<ConditionalOutcome>> outcome;
  world.run([&](const Env& env) {
    outcome = create_object(env, "key", make_blob(body), purpose, RetryConfig{});
  });
  return *outcome;
}

Result<ConditionalOutcome> swap(TestWorld& world, const std::string& body = "own") {
  const auto base = world.store().objects().find("key");
  const Etag etag = base == world.store().objects().end() ? Etag("gone") : base->second.etag;
  std::optional<Result<ConditionalOutcome>> outcome;
  world.run([&](const Env& env) {
    outcome = swap_object(env, "key", make_blob(body), etag, Purpose::kOwnership, RetryConfig{});
  });
  return *outcome;
}

void expect_landed(TestWorld& world, const Result<ConditionalOutcome>& outcome) {
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->landed);
  EXPECT_EQ(*outcome->body, "own");
  EXPECT_EQ(*world.store().peek("key"), "own");
  EXPECT_EQ(outcome->etag, world.store().objects().find("key")->second.etag);
}

void expect_lost_to(const Result<ConditionalOutcome>& outcome, const std::string& body) {
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  ASSERT_NE(outcome->body, nullptr);
  EXPECT_EQ(*outcome->body, body);
  EXPECT_FALSE(outcome->etag.empty());
}

TEST(CreateObject, TakesOneRequestWhenAllIsWell) {
  TestWorld world;
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(CreateObject, FindsItselfWhenItsAnswerWasLost) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 2u) << "the identical request once more";
  EXPECT_EQ(world.store().sent(kGet), 1u) << "and a look at what made it fail";
}

TEST(CreateObject, FindsItselfWhenTheStoreAnsweredWithAnErrorAfterAll) {
  TestWorld world;
  follow(world, {{{kPut, 0}, spoiled(ErrorCode::kUnavailable)}});
  expect_landed(world, create(world));
}

TEST(CreateObject, RepeatsARequestThatNeverArrived) {
  TestWorld world;
  follow(world, {{{kPut, 0}, request_lost()}, {{kPut, 1}, request_lost()}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kGet), 0u);
}

TEST(CreateObject, IsLostToForeignContentAndShowsIt) {
  TestWorld world;
  world.store().plant("key", "foreign");
  expect_lost_to(create(world), "foreign");
  EXPECT_EQ(*world.store().peek("key"), "foreign");
}

TEST(CreateObject, IsLostToNothingWhenForeignContentIsGoneByTheTimeItLooks) {
  TestWorld world;
  world.store().plant("key", "foreign");
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == kGet) world.store().destroy("key");
    return StoreFate{};
  });
  const auto outcome = create(world);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(outcome->body, nullptr);
  EXPECT_TRUE(outcome->etag.empty());
}

TEST(CreateObject, DoesNotTakeItsOwnContentForForeignBecauseABitFlippedOnTheWay) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}, {{kGet, 0}, flipped()}});
  expect_landed(world, create(world));
}

TEST(CreateObject, ShowsForeignContentWithoutFlippedBits) {
  TestWorld world;
  world.store().plant("key", "foreign");
  follow(world, {{{kGet, 0}, flipped()}, {{kGet, 1}, flipped()}});
  expect_lost_to(create(world), "foreign");
}

TEST(CreateObject, DoesNotTakeAConflictForContent) {
  TestWorld world;
  follow(world, {{{kPut, 0}, refused(ErrorCode::kConflict)}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 2u);
}

TEST(CreateObject, LooksWhatAnErrorHides) {
  TestWorld world;
  StoreFate spoiled;
  spoiled.spoiled = ErrorCode::kUnavailable;
  follow(world, {{{kPut, 0}, spoiled}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 1u);
}

TEST(CreateObject, WaitsAsLongAsAThrottlingStoreAsks) {
  TestWorld world;
  follow(world, {{{kPut, 0}, refused(ErrorCode::kThrottled)}});
  const auto before = world.world().now();
  expect_landed(world, create(world));
  EXPECT_GE(world.world().now() - before, milliseconds(100)) << "the hint of the simulated store";
}

TEST(CreateObject, IsLostToAForeignCreateThatItsLateFirstAttemptCannotUndo) {
  TestWorld world;
  follow(world, {{{kPut, 0}, landing_after(seconds(30))}, {{kPut, 1}, request_lost()}});
  world.world().events().after(seconds(6), sim::EventQueue::kAlwaysOpen,
                               [&] { world.store().plant("key", "foreign"); });
  expect_lost_to(create(world), "foreign");
  world.pass(seconds(60));
  EXPECT_EQ(*world.store().peek("key"), "foreign");
}

TEST(CreateObject, PausesEverLongerBetweenAttempts) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest& request) {
    return request.number <= 20 ? refused(ErrorCode::kUnavailable) : StoreFate{};
  });
  expect_landed(world, create(world));
  // 20 ms doubled up to a second, at least half of each: about 7.6 s, at most twice that.
  const auto took = world.world().now().time_since_epoch();
  EXPECT_GE(took, seconds(7));
  EXPECT_LE(took, seconds(17));
}

TEST(CreateObject, ReturnsARefusalThatIsCertain) {
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kFull, ErrorCode::kInvalid}) {
    TestWorld world;
    follow(world, {{{kPut, 0}, refused(code)}});
    const auto outcome = create(world);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, code);
    EXPECT_EQ(world.store().sent(), 1u);
  }
}

TEST(CreateObject, DoesNotTakeARefusalForTheOutcomeOfAnEarlierAttempt) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}, {{kPut, 1}, refused(ErrorCode::kDenied)}});
  expect_landed(world, create(world));
}

TEST(CreateObject, GoesOnWhileWhatLiesThereCannotBeRead) {
  TestWorld world;
  world.store().plant("key", "foreign");
  follow(world, {{{kGet, 0}, refused(ErrorCode::kDenied)}});
  expect_lost_to(create(world), "foreign");
}

TEST(CreateObject, TellsWhenTheLastOfItsRequestsWasSent) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}});
  world.run([](const Env& env) {
    const Time before = env.clock.now();
    const auto outcome =
        create_object(env, "key", make_blob("own"), Purpose::kHeartbeat, RetryConfig{});
    EXPECT_GE(outcome->last_sent, before + seconds(5));
    EXPECT_LT(outcome->last_sent, env.clock.now());
  });
}

TEST(SwapObject, ReplacesItsBase) {
  TestWorld world;
  world.store().plant("key", "base");
  expect_landed(world, swap(world));
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(SwapObject, FindsItselfWhenItsAnswerWasLost) {
  for (const bool etag_is_content : {false, true}) {
    TestWorld world;
    world.store().set_manners({.abilities = {}, .etag_is_content = etag_is_content});
    world.store().plant("key", "base");
    follow(world, {{{kPut, 0}, answer_lost()}});
    expect_landed(world, swap(world));
  }
}

TEST(SwapObject, FindsItselfWhenItLandsOnlyAfterItWasGivenUp) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, landing_after(milliseconds(5001))}, {{kPut, 1}, request_lost()}});
  expect_landed(world, swap(world));
}

TEST(SwapObject, IsLostToForeignContentWhateverTheStoreTellsTheLoser) {
  for (const uint64_t loser_error_percent : {0, 100}) {
    TestWorld world;
    world.store().set_manners({.abilities = {}, .loser_error_percent = loser_error_percent});
    world.store().plant("key", "base");
    world.store().set_fates([&](const StoreRequest& request) {
      if (request.number == 1) world.store().plant("key", "foreign");
      return StoreFate{};
    });
    expect_lost_to(swap(world), "foreign");
  }
}

TEST(SwapObject, IsLostWhenTheObjectIsGone) {
  TestWorld world;
  const auto outcome = swap(world);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(outcome->body, nullptr);
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(SwapObject, CountsAsLostWhenItLandedAndWasReplaced) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, answer_lost()}});
  world.world().events().after(seconds(3), sim::EventQueue::kAlwaysOpen,
                               [&] { world.store().plant("key", "next"); });
  expect_lost_to(swap(world), "next");
}

TEST(SwapObject, GoesOnWhenTheStoreContradictsItself) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, refused(ErrorCode::kPreconditionFailed)}});
  expect_landed(world, swap(world));
}

TEST(SwapObject, TakesAnUnknownOutcomeForAFailureOnlyAsAMutant) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, answer_lost()}});
  active_mutant = Mutant::unknown_is_failure;
  const auto outcome = swap(world);
  active_mutant = Mutant::none;
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(*world.store().peek("key"), "own");
}

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
class WrongListing final : public Store {
 public:
  explicit WrongListing(Listing page) : page_(std::move(page)) {}
  StoreAbilities abilities() const override { return {}; }
  Result<StoredObject> get(std::string_view, std::optional<ByteRange>,
                           const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<ObjectInfo> head(std::string_view, const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<Etag> put(std::string_view, Blob, const Precondition&, const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<> remove(std::string_view, const RequestOptions&) override { return {}; }
  Result<> remove_many(std::span<const std::string>, const RequestOptions&) override { return {}; }
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

RetryConfig impatient() {
  return {.attempt_timeout = milliseconds(300),
          .backoff_min = milliseconds(5),
          .backoff_max = milliseconds(100)};
}

RC_GTEST_PROP(Conditional, ExactlyOneOfManyCreatorsLandsInAnyWeather, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  TestWorld world(seed);
  Random random(seed);
  world.store().set_fates(log_test::fates_in(log_test::Weather::draw(random), random.next()));
  const int creators = static_cast<int>(random.between(2, 5));
  std::vector<std::string> landed;
  std::vector<std::string> seen;
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < creators; ++i) {
        scope.spawn("creator", [&, i] {
          // As all content of the bucket: far enough from others that no flipped bit leads there.
          const std::string own = std::to_string(env.random.next()) + std::string(10'000 + i, ' ');
          const auto outcome =
              create_object(env, "key", make_blob(own), Purpose::kOwnership, impatient());
          if (outcome->landed) landed.push_back(own);
          seen.push_back(*outcome->body);
        });
      }
      scope.join();
    });
  });
  world.pass(seconds(10));
  RC_ASSERT(landed.size() == 1u);
  RC_ASSERT(*world.store().peek("key") == landed.front());
  for (const std::string& content : seen) RC_ASSERT(content == landed.front());
}

/// What lies at the key, by two reads that agree: these contents have no checksum of their own.
StoredObject read_sound(const Env& env) {
  std::optional<StoredObject> last;
  while (true) {
    auto found = get_object(env, "key", Purpose::kOwnership, impatient());
    if (last && *last->body == *(*found)->body && last->etag == (*found)->etag) return *last;
    last = **found;
  }
}

/// Each content of the key is the one before it, a writer's name and number, and a line's end: so
/// the last content tells everything that ever landed, in order.
RC_GTEST_PROP(Conditional, SwapsKnowTheirOutcomeInAnyWeather, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  TestWorld world(seed);
  Random random(seed);
  world.store().set_manners({.abilities = {},
                             .etag_is_content = random.chance(1, 2),
                             .loser_error_percent = random.below(3) * 50});
  // Long, so that two reads in a row hardly ever flip the same bit.
  world.store().plant("key", std::string(10'000, '.') + "\n");
  world.store().set_fates(log_test::fates_in(log_test::Weather::draw(random), random.next()));
  std::set<std::string> landed;
  std::set<std::string> lost;
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (const char writer : {'a', 'b', 'c'}) {
        scope.spawn("writer", [&, writer] {
          for (int i = 0; i < 8; ++i) {
            const StoredObject base = read_sound(env);
            const std::string own = writer + std::to_string(env.random.next()) + "\n";
            const auto outcome = swap_object(env, "key", make_blob(*base.body + own), base.etag,
                                             Purpose::kOwnership, impatient());
            const std::string& now = *outcome->body;
            if (outcome->landed) {
              landed.insert(own);
            } else if (now.find(own) == std::string::npos) {
              lost.insert(own);  // resolved: it must not land later
            }
          }
        });
      }
      scope.join();
    });
  });
  world.pass(seconds(10));
  const std::string last = *world.store().peek("key");
  for (const std::string& own : landed) RC_ASSERT(last.find(own) != std::string::npos);
  for (const std::string& own : lost) RC_ASSERT(last.find(own) == std::string::npos);
  RC_ASSERT(!landed.empty());
}

}  // namespace
}  // namespace morula
