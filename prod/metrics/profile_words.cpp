#include "prod/metrics/profile_words.hpp"

#include <fmt/format.h>

namespace morula {
namespace {

// Below such a part of overlapping round trips, or with so many envelopes in each, there is not
// much to win.
constexpr double kOverlapWorth = 0.1;
constexpr double kWellFilled = 2;

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string verdict(const WriteProfile::Figures& figures, std::string_view envelopes,
                    std::string_view round_trips) {
  const auto trips = static_cast<double>(figures.round_trips);
  const double filled = static_cast<double>(figures.envelopes) / trips;
  const double overlap = static_cast<double>(figures.overlapped) / trips;
  if (overlap < kOverlapWorth) {
    return filled >= kWellFilled
               ? fmt::format("Batching is at work: {:.1f} {} share one of the {}.", filled,
                             envelopes, round_trips)
               : fmt::format(
                     "Batching could not help: the {} come one after another, so there is "
                     "never a second to take along. Faster storage would, or more clients "
                     "at once.",
                     round_trips);
  }
  return fmt::format(
      "Batching could help: {:.0f} % of the {} began while another was under way; had they waited "
      "for it, they could have gone together, {:.1f} {} in each instead of {:.1f}.",
      100 * overlap, round_trips, filled / (1 - std::min(overlap, 0.99)), envelopes, filled);
}

}  // namespace

std::string in_words(const WriteProfile::Figures& figures, std::string_view envelopes,
                     std::string_view round_trips) {
  if (figures.round_trips == 0) return fmt::format("No {}.\n", round_trips);
  return fmt::format(
      "{} {} in {} {}, within {:.1f} s: {:.0f} {} a second.\n"
      "One of the {} took {:.2f} ms on average, {:.2f} ms at most; up to {} at once.\n{}\n",
      figures.envelopes, envelopes, figures.round_trips, round_trips,
      milliseconds(figures.span()) / 1e3, figures.envelopes_per_second(), envelopes, round_trips,
      milliseconds(figures.total) / static_cast<double>(figures.round_trips),
      milliseconds(figures.longest), figures.concurrent_peak,
      verdict(figures, envelopes, round_trips));
}

}  // namespace morula
