// Who asks for a look gets one that began after it had asked.
#include "core/cell/shard_map.hpp"

#include "tests/cell/cell_fixture.hpp"

namespace morula {
namespace {

TEST(ShardMap, ARefreshWaitsForALookThatBeganAfterIt) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    ShardMap map(env, {"a", Ulid{1, 1}});
    bool refreshed = false;
    with_scope(env.domain, [&](Scope& scope) {
      map.look_begins();
      scope.spawn("refresh", [&] {
        map.refresh(env.clock.now() + seconds(60));
        refreshed = true;
      });
      env.clock.sleep(milliseconds(1));
      map.looked();
      env.clock.sleep(milliseconds(1));
      EXPECT_FALSE(refreshed) << "what that look has read may be older than what the asker knows";
      const Time before = env.clock.now();
      map.wait_for_look(before + seconds(10));
      EXPECT_EQ(env.clock.now(), before) << "one was asked for";
      map.look_begins();
      map.looked();
      env.clock.sleep(milliseconds(1));
      EXPECT_TRUE(refreshed);
      scope.join();
    });
  });
}

}  // namespace
}  // namespace morula
