#include "sim/sweep/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace morula::sim {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainLine = std::chrono::seconds(15);
constexpr int kBarWidth = 30;

}  // namespace

Progress::Progress(uint64_t total, std::chrono::seconds time)
    : total_(total),
      time_(time),
      terminal_(isatty(STDERR_FILENO) == 1),
      began_(Wall::now()),
      drawn_at_(began_) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(Wall::now() - began_).count();
}

double Progress::share(uint64_t done) const {
  double share = 0;
  if (total_ > 0) share = static_cast<double>(done) / static_cast<double>(total_);
  if (time_.count() > 0) {
    share = std::max(share, seconds() / static_cast<double>(time_.count()));
  }
  return std::min(share, 1.0);
}

void Progress::update(uint64_t done, const std::string& note) {
  const auto now = Wall::now();
  if (now - drawn_at_ < (terminal_ ? Wall::duration(kRedraw) : Wall::duration(kPlainLine))) return;
  drawn_at_ = now;
  const double rate = static_cast<double>(done) / std::max(seconds(), 0.001);
  if (!terminal_) {
    std::fprintf(stderr, "%3.0f %%  %llu done, %.1f/s  %s\n", share(done) * 100,
                 static_cast<unsigned long long>(done), rate, note.c_str());
    return;
  }
  const int full = static_cast<int>(share(done) * kBarWidth);
  std::string bar(static_cast<size_t>(full), '#');
  bar.resize(kBarWidth, '.');
  std::fprintf(stderr, "\r\033[K[%s] %3.0f %%  %llu done, %.1f/s  %s", bar.c_str(),
               share(done) * 100, static_cast<unsigned long long>(done), rate, note.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace morula::sim
