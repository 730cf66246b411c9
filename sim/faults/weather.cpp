#include "sim/faults/weather.hpp"

#include <iterator>

namespace morula::sim {

namespace {

constexpr uint64_t kQuarters[] = {0, 0, 2, 4, 4, 16};

}  // namespace

uint64_t Weather::quarters(TrueTime now) {
  while (now >= until_) {
    quarters_ = kQuarters[random_.below(std::size(kQuarters))];
    until_ += std::chrono::milliseconds(random_.between(500, 8000));
  }
  return quarters_;
}

}  // namespace morula::sim
