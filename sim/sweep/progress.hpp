// A progress bar on a terminal; a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace morula::sim {

class Progress {
 public:
  /// `total` 0: unknown, time bounds the work.
  Progress(uint64_t total, std::chrono::seconds time);

  /// May redraw.
  void update(uint64_t done, const std::string& note);
  /// Takes the bar away so that a line can be printed; the next update brings it back.
  void clear();
  double seconds() const;

 private:
  using Wall = std::chrono::steady_clock;
  double share(uint64_t done) const;

  uint64_t total_;
  std::chrono::seconds time_;
  bool terminal_;
  bool drawn_ = false;
  Wall::time_point began_;
  Wall::time_point drawn_at_;
};

}  // namespace morula::sim
