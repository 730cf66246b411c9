// How many requests are on their way at once, who goes first, and how often one is repeated.
//
// Requests queue here and not in curl, so that a log write never stands behind an upload, and no
// transfer's time is spent waiting. The store says when it is asked too much (503 SlowDown, 429):
// then fewer go at once, and more again as it answers well.
#pragma once

#include <array>
#include <cstddef>

#include "core/base/units.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/store.hpp"

namespace morula {

struct S3PaceConfig {
  size_t requests_max = 64;  // at once; an endpoint's node takes about a hundred well
  size_t requests_min = 4;   // however much the store complains
  // Repeats inside the store. Refilled by time and not by successes: a store that is down for an
  // hour must not leave us without any when it is back.
  double repeats_burst = 32;
  double repeats_per_second = 8;
  Duration calm = std::chrono::milliseconds(500);  // complaints of one moment count once
};

class S3Pace {
 public:
  S3Pace(Clock& clock, const S3PaceConfig& config);

  /// Suspends until a request of `purpose` may go; false when `deadline` came first. Lower purposes
  /// first; those from kMetaRead on leave a quarter free. Throws Cancelled.
  bool acquire(Purpose purpose, Time deadline);
  /// After each acquire that was true.
  void release();

  void complained();  // the store asks for less
  void succeeded();
  size_t limit() const { return limit_; }

  /// True when one more repeat is within the budget, and takes it.
  bool take_repeat();

 private:
  bool has_room(Purpose purpose) const;
  bool others_are_before(Purpose purpose) const;
  void hand_on();

  Clock& clock_;
  const S3PaceConfig config_;
  size_t limit_;
  size_t in_use_ = 0;
  size_t well_ = 0;  // answers since the limit was raised
  Time last_complaint_{};
  double repeats_;
  Time refilled_;
  std::array<WaitList, kPurposes> waiting_;
};

}  // namespace morula
