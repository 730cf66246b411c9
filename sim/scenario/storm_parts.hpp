// What several storms have in common.
#pragma once

#include "sim/scenario/plan.hpp"

namespace morula::sim {

inline void set_lease(Plan& plan, Duration lease) {
  LeaseConfig& config = plan.instance.lease;
  config.lease = lease;
  config.lease_alone = lease;
  config.heartbeat = lease / 4;
  config.heartbeat_alone = lease / 4;
  config.watch_interval = std::chrono::milliseconds(200);
}

inline void set_attempts(Plan& plan, Duration timeout) {
  for (RetryConfig* retry :
       {&plan.instance.retry, &plan.instance.log.retry, &plan.instance.shard.retry}) {
    retry->attempt_timeout = timeout;
    retry->backoff_max = std::chrono::milliseconds(200);
  }
}

/// Several instances, so that there is somebody to take over.
inline void at_least_two(Plan& plan, Random& random) {
  if (plan.instances < 2) plan.instances = 2 + static_cast<uint32_t>(random.below(2));
}

}  // namespace morula::sim
