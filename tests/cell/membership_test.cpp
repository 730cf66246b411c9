#include "core/cell/membership.hpp"

#include "core/store/conditional.hpp"
#include "core/store/keys.hpp"
#include "tests/cell/cell_fixture.hpp"

namespace morula {
namespace {

TEST(Membership, AnInstanceThatHasSleptDoesNotExpireItself) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    const IncarnationId self{"a", Ulid{2, 2}};
    const IncarnationId earlier{"a", Ulid{1, 1}};
    Member document;
    document.version = Version(1);
    document.incarnation = document.writer = self;
    document.lease = seconds(2);
    document.address = env.network.address();
    document.process = {"boot", "ns", 1, 1};
    const std::string bytes = encode_member(document);
    ASSERT_TRUE(create_object(env, keys::member("a"), make_blob(bytes), Purpose::kHeartbeat,
                              RetryConfig{}));
    Membership membership(env, LeaseConfig{}, RetryConfig{}, self);
    for (int look = 0; look < 2; ++look) {
      const auto own = membership.look_at(self);
      ASSERT_TRUE(own && *own);
      EXPECT_FALSE((*own)->over);
      EXPECT_EQ((*own)->address, env.network.address());
      const auto over = membership.look_at(earlier);
      ASSERT_TRUE(over && *over);
      EXPECT_TRUE((*over)->over) << "nobody has its name while another lives under it";
      env.clock.sleep(seconds(60));
    }
    EXPECT_EQ(*world.store().peek(keys::member("a")), bytes);
  });
}

}  // namespace
}  // namespace morula
