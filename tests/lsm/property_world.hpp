// Properties whose body needs a world: what RC_ASSERT throws in the fiber is thrown to RapidCheck.
#pragma once

#include <exception>
#include <functional>

#include "core/rt/fiber.hpp"
#include "sim/world/test_world.hpp"

namespace morula {

inline void run_property(sim::TestWorld& world, const std::function<void(const Env&)>& body) {
  std::exception_ptr failure;
  world.run([&](const Env& env) {
    try {
      body(env);
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace morula
