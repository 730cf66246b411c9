// A world without faults, for tests of the rooms: one process in which a test's body runs as a
// fiber, to its end, in virtual time. Nothing sleeps for real.
//
//     TEST(LogWriter, AcknowledgesWhatHasLanded) {
//       sim::TestWorld world;
//       world.run([&](const Env& env) {
//         with_scope(env.domain, [&](Scope& scope) {
//           LogWriter log(env, {}, incarnation, scope);
//           ...
//         });
//       });
//       EXPECT_EQ(world.store().keys("log/").size(), 1u);
//     }
//
// The store lies empty at first, and stays from one `run` to the next. To see a request fail:
//
//       world.store().set_fates([&](const sim::StoreRequest& request) {
//         sim::StoreFate fate;
//         if (request.call == sim::StoreCall::kPut && puts++ == 0) fate.answered = false;
//         return fate;
//       });
//
// A second process (a zombie, a peer): `world.add("b")`, then `b.spawn(...)`, `b.pause()`,
// `b.kill()`; it runs while a `run` does.
#pragma once

#include <functional>
#include <string>

#include "sim/world/world.hpp"

namespace morula::sim {

class TestWorld {
 public:
  explicit TestWorld(uint64_t seed = 1);

  /// Runs `body` in a fiber of the process until it returns (true), then what is ready at that
  /// moment; or until the process is killed (false), which only another process or an event can do.
  /// Checks that it ends within `limit` of true time and leaves no fiber behind. Starts the process
  /// if it is dead.
  bool run(const std::function<void(const Env&)>& body, Duration limit = std::chrono::hours(1));
  /// Lets `duration` of true time pass for the other processes and for requests on their way.
  void pass(Duration duration) { world_.run_for(duration); }

  /// Another process, without a root function: give it fibers by `spawn`.
  Process& add(std::string name, uint32_t machine = 0);
  /// The process of `run`. Restart it to test what a crash leaves.
  Process& process() { return *process_; }

  World& world() { return world_; }
  SimStore& store() { return world_.store(); }

 private:
  World world_;
  Process* process_;
};

}  // namespace morula::sim
