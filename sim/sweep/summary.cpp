#include "sim/sweep/summary.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/step.hpp"
#include "sim/faults/fault_steps.hpp"

namespace morula::sim {

namespace {

constexpr std::string_view kSteps[] = {
#define MORULA_STEP_NAME(name, what) #name,
    MORULA_STEPS(MORULA_STEP_NAME)
#undef MORULA_STEP_NAME
};

constexpr int kColumns = 3;
constexpr int kCellWidth = 32;
constexpr int kPairWidth = 8;

double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

unsigned long long ull(uint64_t value) {
  return value;
}

/// In at most five characters.
std::string short_number(uint64_t number) {
  if (number < 10'000) return std::to_string(number);
  if (number < 10'000'000) return std::to_string(number / 1000) + "k";
  return std::to_string(number / 1'000'000) + "M";
}

/// The two lines above a column: `store_answer_lost` is "answer", "lost".
std::array<std::string, 2> heading(Fault fault) {
  std::string_view name = kFaultNames[static_cast<size_t>(fault)];
  if (name.starts_with("store_")) name.remove_prefix(6);
  const size_t cut = name.find('_');
  if (cut == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, cut)), std::string(name.substr(cut + 1))};
}

}  // namespace

void Summary::add(const JobResult& result) {
  ++seeds_;
  if (result.verdict == Verdict::kFailed) ++failures_;
  if (result.verdict == Verdict::kExpected) ++expected_;
  if (result.verdict != Verdict::kHeld) ++rules_[result.rule];
  virtual_us_ += result.virtual_us;
  work_us_ += result.cpu_us;
  operations_ += result.operations;
  store_requests_ += result.store_requests;
  calls_ += result.calls;
  switches_ += result.switches;
  for (const auto& [name, count] : result.purposes) purposes_[name] += count;
  for (const auto& [name, count] : result.faults) faults_[name] += count;
  for (const auto& [name, count] : result.steps) steps_[name] += count;
  for (const auto& [name, count] : result.pairs) pairs_[name] += count;
  for (const auto& [place, reached] : result.places) places_[place] += reached ? 1 : 0;
}

void Summary::print(std::FILE* out, double wall_seconds) const {
  std::fprintf(out, "\nseeds %llu   held %llu   failed %llu", ull(seeds_),
               ull(seeds_ - failures_ - expected_), ull(failures_));
  if (expected_ > 0) std::fprintf(out, "   failed as expected %llu", ull(expected_));
  std::fprintf(out, "\n");
  for (const auto& [rule, count] : rules_) {
    std::fprintf(out, "  rule %-14s broke in %llu seeds\n", rule.c_str(), ull(count));
  }
  print_speed(out, wall_seconds);
  print_counts(out, "store requests", purposes_);
  print_counts(out, "faults", faults_);
  print_counts(out, "steps", steps_);
  print_pairs(out);
  print_never(out);
}

void Summary::print_speed(std::FILE* out, double wall_seconds) const {
  const auto work = static_cast<double>(work_us_);
  std::fprintf(out, "\nspeed\n");
  std::fprintf(out, "  %10.1f s of wall time, %.1f seeds/s\n", wall_seconds,
               ratio(static_cast<double>(seeds_), wall_seconds));
  std::fprintf(out, "  %10.1f seeds/s per core\n", ratio(static_cast<double>(seeds_) * 1e6, work));
  std::fprintf(out, "  %10.0f virtual seconds per second of a core\n",
               ratio(static_cast<double>(virtual_us_), work));
  std::fprintf(out, "  %10.1f us per client operation, all included\n",
               ratio(work, static_cast<double>(operations_)));
  const auto seeds = static_cast<double>(seeds_);
  std::fprintf(out,
               "  a seed has %.0f client operations, %.0f store requests, %.0f calls, %.0f fiber "
               "switches\n",
               ratio(static_cast<double>(operations_), seeds),
               ratio(static_cast<double>(store_requests_), seeds),
               ratio(static_cast<double>(calls_), seeds),
               ratio(static_cast<double>(switches_), seeds));
}

void Summary::print_counts(std::FILE* out, const char* title,
                           const std::map<std::string, uint64_t>& counts) const {
  std::fprintf(out, "\n%s\n", title);
  int column = 0;
  for (const auto& [name, count] : counts) {
    std::fprintf(out, "  %-20s %*llu", name.c_str(), kCellWidth - 22, ull(count));
    if (++column % kColumns == 0) std::fprintf(out, "\n");
  }
  if (column % kColumns != 0) std::fprintf(out, "\n");
}

std::vector<std::string> Summary::missing_pairs() const {
  std::vector<std::string> missing;
  for (const Fault fault : kPairedFaults) {
    for (size_t i = 0; i < kStepCount; ++i) {
      const auto step = static_cast<Step>(i);
      const std::string name = pair_name(fault, step);
      if (is_required(fault, step) && !pairs_.contains(name)) missing.push_back(name);
    }
  }
  return missing;
}

void Summary::print_pairs(std::FILE* out) const {
  std::fprintf(out, "\nfaults at steps (*: has to be reached by 2,000 seeds)\n");
  for (const size_t line : {0U, 1U}) {
    std::fprintf(out, "  %-11s", "");
    for (const Fault fault : kPairedFaults) {
      std::fprintf(out, " %*.*s", kPairWidth, kPairWidth, heading(fault)[line].c_str());
    }
    std::fprintf(out, "\n");
  }
  for (size_t i = 0; i < kStepCount; ++i) {
    const auto step = static_cast<Step>(i);
    std::fprintf(out, "  %-11s", std::string(to_string(step)).c_str());
    for (const Fault fault : kPairedFaults) {
      const auto found = pairs_.find(pair_name(fault, step));
      std::string cell = found == pairs_.end() ? "." : short_number(found->second);
      if (is_required(fault, step)) cell += "*";
      std::fprintf(out, " %*s", kPairWidth, cell.c_str());
    }
    std::fprintf(out, "\n");
  }
}

void Summary::print_never(std::FILE* out) const {
  std::vector<std::string> never;
  for (const auto& [place, seeds] : places_) {
    if (seeds == 0) never.push_back("place  " + place);
  }
  for (std::string_view step : kSteps) {
    if (!steps_.contains(std::string(step))) never.push_back("step   " + std::string(step));
  }
  for (size_t i = 0; i < kFaults; ++i) {
    if (!faults_.contains(std::string(kFaultNames[i]))) {
      never.push_back("fault  " + std::string(kFaultNames[i]));
    }
  }
  const auto reached = std::count_if(places_.begin(), places_.end(),
                                     [](const auto& place) { return place.second > 0; });
  std::fprintf(out, "\n%lld of %zu places reached\n", static_cast<long long>(reached),
               places_.size());
  if (never.empty()) return;
  std::fprintf(out, "never reached\n");
  for (const std::string& what : never) std::fprintf(out, "  %s\n", what.c_str());
}

}  // namespace morula::sim
