#include "core/store/backoff.hpp"

#include <algorithm>
#include <bit>

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

// Fewer repeats are everyday weather; from here on the warnings come at 8, 16, 32, ... repeats.
constexpr uint64_t kQuietPauses = 8;

}  // namespace

RequestOptions Backoff::attempt(Purpose purpose) const {
  return {.deadline = env_.clock.now() + retry_.attempt_timeout, .purpose = purpose};
}

void Backoff::pause(const Error& error) {
  ++pauses_;
  if (pauses_ >= kQuietPauses && std::has_single_bit(pauses_)) {
    env_.trace.log(Severity::kWarning, "store_request_repeated",
                   {{"request", what_},
                    {"attempts", pauses_},
                    {"error", to_string(error.code)},
                    {"message", error.message}});
  }
  const auto ticks = static_cast<uint64_t>(std::max<Duration::rep>(pause_.count(), 1));
  Duration drawn(static_cast<Duration::rep>(env_.random.between((ticks + 1) / 2, ticks)));
  const int64_t asked_ms_max =
      std::chrono::duration_cast<std::chrono::milliseconds>(retry_.retry_after_max).count();
  const int64_t asked_ms = std::clamp<int64_t>(error.retry_after_ms, 0, asked_ms_max);
  drawn = std::max(drawn, Duration(std::chrono::milliseconds(asked_ms)));
  pause_ = std::min(pause_ * 2, std::max(retry_.backoff_max, retry_.backoff_min));
  env_.clock.sleep(drawn);
}

}  // namespace morula
