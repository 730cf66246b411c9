#include "sim/world/test_world.hpp"

#include "core/base/check.hpp"

namespace morula::sim {

TestWorld::TestWorld(uint64_t seed) : world_(seed), process_(&add("test")) {}

Process& TestWorld::add(std::string name, uint32_t machine) {
  ProcessOptions options;
  options.name = std::move(name);
  options.machine = machine;
  return world_.add(options);
}

bool TestWorld::run(const std::function<void(const Env&)>& body, Duration limit) {
  if (!process_->alive()) process_->start();
  uint32_t run = process_->runs();
  bool done = false;
  process_->spawn("test", [&](const Env& env) {
    body(env);
    done = true;
  });
  auto killed = [&] { return !process_->alive() || process_->runs() != run; };
  bool ended = world_.run_until_true([&] { return done || killed(); }, world_.now() + limit);
  MORULA_CHECK(ended, "the test's body waits for something that does not come");
  world_.run_for(Duration(0));
  if (!done) return false;
  MORULA_CHECK(process_->env().domain.live() == 0, "the test's body has left a fiber behind");
  return true;
}

}  // namespace morula::sim
