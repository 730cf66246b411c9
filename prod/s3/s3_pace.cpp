#include "prod/s3/s3_pace.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace morula {

S3Pace::S3Pace(Clock& clock, const S3PaceConfig& config)
    : clock_(clock),
      config_(config),
      limit_(config.requests_max),
      repeats_(config.repeats_burst),
      refilled_(clock.now()) {}

bool S3Pace::has_room(Purpose purpose) const {
  const size_t own = purpose < Purpose::kMetaRead ? limit_ : limit_ - limit_ / 4;
  return in_use_ < own;
}

bool S3Pace::others_are_before(Purpose purpose) const {
  for (size_t p = 0; p <= static_cast<size_t>(purpose); ++p) {
    if (!waiting_[p].empty()) return true;
  }
  return false;
}

bool S3Pace::acquire(Purpose purpose, Time deadline) {
  if (has_room(purpose) && !others_are_before(purpose)) {
    ++in_use_;
    return true;
  }
  try {
    // Whoever wakes us has counted us in.
    return waiting_[static_cast<size_t>(purpose)].wait_until(clock_, deadline);
  } catch (const Cancelled& cancelled) {
    if (cancelled.woken) release();
    throw;
  }
}

void S3Pace::release() {
  MORULA_CHECK(in_use_ > 0);
  --in_use_;
  hand_on();
}

void S3Pace::hand_on() {
  for (size_t p = 0; p < kPurposes; ++p) {
    while (!waiting_[p].empty()) {
      if (!has_room(static_cast<Purpose>(p))) return;
      ++in_use_;
      waiting_[p].wake_one();
    }
  }
}

void S3Pace::complained() {
  const Time now = clock_.now();
  if (last_complaint_ != Time{} && now - last_complaint_ < config_.calm) return;
  last_complaint_ = now;
  limit_ = std::max(config_.requests_min, limit_ * 7 / 10);
  well_ = 0;
}

void S3Pace::succeeded() {
  if (limit_ >= config_.requests_max || ++well_ < limit_) return;
  well_ = 0;
  ++limit_;
  hand_on();
}

bool S3Pace::take_repeat() {
  const Time now = clock_.now();
  const double seconds = std::chrono::duration<double>(now - refilled_).count();
  refilled_ = now;
  repeats_ = std::min(config_.repeats_burst, repeats_ + seconds * config_.repeats_per_second);
  if (repeats_ < 1) return false;
  repeats_ -= 1;
  return true;
}

}  // namespace morula
