#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/log/weather.hpp"
#include "tests/store/conditional_fixture.hpp"

namespace morula::store_test {
namespace {

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
}  // namespace morula::store_test
