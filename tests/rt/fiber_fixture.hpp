// What every test of fibers needs: a scheduler, a process, a scope, a clock, and a log of what
// happened.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rt/fiber.hpp"
#include "tests/rt/manual_clock.hpp"

namespace morula {

class FiberTest : public testing::Test {
 protected:
  using Log = std::vector<std::string>;

  /// Runs ready fibers until none is left.
  void run() { scheduler_.run_ready(); }
  void note(std::string what) { log_.push_back(std::move(what)); }
  /// Runs `body` and notes how it ended: "<name> ended", or "<name> cancelled" (and rethrows).
  template <class Body>
  void noting(const std::string& name, Body&& body) {
    try {
      body();
    } catch (const Cancelled&) {
      note(name + " cancelled");
      throw;
    }
    note(name + " ended");
  }

  Scheduler scheduler_;
  Domain domain_{scheduler_, "test"};
  Scope scope_{domain_};
  ManualClock clock_;
  Log log_;
};

}  // namespace morula
