#include "core/rt/clock.hpp"

#include "core/rt/fiber.hpp"

namespace morula {

void Clock::sleep_until(Time at) {
  WaitList nobody_wakes;
  nobody_wakes.wait_until(*this, at);
}

}  // namespace morula
