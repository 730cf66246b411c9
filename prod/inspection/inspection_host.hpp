// What a command needs that looks at a bucket: an Env without a network, over a store that is
// opened to be read only.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "prod/linux_platform.hpp"
#include "prod/loop.hpp"
#include "prod/open_store.hpp"
#include "prod/thread_compute.hpp"

namespace morula {

// How the commands end, besides 0.
inline constexpr int kFoundDamage = 1;
inline constexpr int kCouldNotRead = 2;   // or could not print, or wrong usage
inline constexpr int kNothingToRead = 3;  // `cat`: no such stream, or no such offset in it

/// Tells on stderr what the store waits for, and leaves out what the command itself will tell.
class InspectionTrace final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity severity, std::string_view event,
           std::initializer_list<LogField> fields) override;
  void sometimes(std::string_view, bool) override {}

 private:
  std::mutex mutex_;  // the store's threads log too
};

class InspectionHost {
 public:
  /// Errors say what to do.
  static Result<std::unique_ptr<InspectionHost>> open(const StoreOptions& options);

  /// Runs `body` in a fiber, with an Env whose store refuses changes and gives up at last.
  void run(const std::function<void(const Env&)>& body);

  const std::string& location() const { return opened_.location; }
  WallTime wall() const { return loop_.wall(); }

 private:
  InspectionHost();

  Loop loop_;
  InspectionTrace trace_;
  OpenedStore opened_;
  ThreadCompute compute_;
  Random random_;
  LinuxPlatform platform_;
};

}  // namespace morula
