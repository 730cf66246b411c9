#include "sim/sweep/mutants.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "sim/sweep/job.hpp"
#include "sim/sweep/progress.hpp"
#include "sim/sweep/worker_pool.hpp"

namespace morula::sim {

namespace {

constexpr size_t kTries = 5;
constexpr size_t kMajority = kTries / 2 + 1;
// Far apart, and far from the seeds of ordinary sweeps.
constexpr uint64_t kTryDistance = 1'000'000;

/// The tries for one mutant, in step: seed n of each before seed n+1 of any, so that the median is
/// known as soon as the third try has succeeded and the slow ones cost no more than that.
class Hunt {
 public:
  Hunt(Mutant mutant, std::string scenario, uint64_t seeds_max)
      : mutant_(mutant), scenario_(std::move(scenario)), seeds_max_(seeds_max) {}

  /// A seed with the mutant, or the same seed without it to see whose fault a failure was.
  std::optional<Job> next();
  void take(const JobResult& result);

  bool decided() const { return outstanding_ == 0 && (caught() >= kMajority || exhausted()); }
  size_t caught() const;
  /// The third lowest of the numbers of seeds that the tries needed.
  std::optional<uint64_t> median() const;
  std::string rules() const;
  Mutant mutant() const { return mutant_; }
  const std::string& scenario() const { return scenario_; }
  uint64_t seeds() const { return seeds_; }
  const std::optional<JobResult>& example() const { return example_; }
  /// Seeds that failed without the mutant, too.
  const std::vector<JobResult>& broken() const { return broken_; }

 private:
  struct Try {
    std::optional<uint64_t> caught_at;  // index of the lowest seed that failed
    std::string rule;
  };

  bool exhausted() const { return index_ >= seeds_max_; }
  uint64_t seed_of(size_t try_number, uint64_t index) const {
    return (try_number + 1) * kTryDistance + index;
  }
  void catch_by(const JobResult& result);

  Mutant mutant_;
  std::string scenario_;
  uint64_t seeds_max_;
  Try tries_[kTries];
  size_t try_ = 0;
  uint64_t index_ = 0;
  uint64_t seeds_ = 0;
  size_t outstanding_ = 0;
  std::deque<JobResult> suspects_;               // failed with the mutant, to be run without
  std::map<uint64_t, JobResult> under_control_;  // by seed: being run without
  std::optional<JobResult> example_;
  std::vector<JobResult> broken_;
};

std::optional<Job> Hunt::next() {
  if (!suspects_.empty()) {
    Job control = suspects_.front().job;
    under_control_.emplace(control.seed, std::move(suspects_.front()));
    suspects_.pop_front();
    control.mutant = Mutant::none;
    ++outstanding_;
    return control;
  }
  while (caught() < kMajority && !exhausted()) {
    const size_t number = try_;
    const uint64_t index = index_;
    if (++try_ == kTries) {
      try_ = 0;
      ++index_;
    }
    if (tries_[number].caught_at) continue;
    ++outstanding_;
    Job job;
    job.scenario = scenario_;
    job.seed = seed_of(number, index);
    job.mutant = mutant_;
    return job;
  }
  return std::nullopt;
}

void Hunt::take(const JobResult& result) {
  --outstanding_;
  if (result.job.mutant == mutant_) {
    ++seeds_;
    if (result.failed()) suspects_.push_back(result);
    return;
  }
  auto suspect = under_control_.find(result.job.seed);
  if (result.failed()) {
    broken_.push_back(result);
  } else {
    catch_by(suspect->second);
  }
  under_control_.erase(suspect);
}

void Hunt::catch_by(const JobResult& result) {
  const size_t number = result.job.seed / kTryDistance - 1;
  const uint64_t index = result.job.seed % kTryDistance;
  Try& its_try = tries_[number];
  if (its_try.caught_at && *its_try.caught_at <= index) return;
  its_try.caught_at = index;
  its_try.rule = result.rule;
  if (!example_) example_ = result;
}

size_t Hunt::caught() const {
  return static_cast<size_t>(std::count_if(std::begin(tries_), std::end(tries_),
                                           [](const Try& t) { return t.caught_at.has_value(); }));
}

std::optional<uint64_t> Hunt::median() const {
  std::vector<uint64_t> needed;
  for (const Try& t : tries_) {
    if (t.caught_at) needed.push_back(*t.caught_at + 1);
  }
  if (needed.size() < kMajority) return std::nullopt;
  std::sort(needed.begin(), needed.end());
  return needed[kMajority - 1];
}

std::string Hunt::rules() const {
  std::map<std::string, size_t> by_rule;
  for (const Try& t : tries_) {
    if (t.caught_at) ++by_rule[t.rule];
  }
  std::string text;
  for (const auto& [rule, count] : by_rule) {
    if (!text.empty()) text += ", ";
    text += rule;
  }
  return text.empty() ? "-" : text;
}

class Table {
 public:
  static void print_head() {
    std::printf("%-28s %-9s %-24s %7s  %s\n", "mutant", "caught", "by rule", "seeds", "scenario");
  }
  static void print(const Hunt& hunt, bool example) {
    const auto median = hunt.median();
    const std::string seeds = median ? std::to_string(*median) : "-";
    std::string caught = median ? "yes" : "NO";
    if (!median && hunt.caught() > 0) caught = std::to_string(hunt.caught()) + " of 5";
    std::printf("%-28s %-9s %-24s %7s  %s\n", std::string(mutant_name(hunt.mutant())).c_str(),
                caught.c_str(), hunt.rules().c_str(), seeds.c_str(), hunt.scenario().c_str());
    if (!median) {
      std::printf("  survived: %s\n", std::string(mutant_rule(hunt.mutant())).c_str());
    }
    if (example && hunt.example()) {
      std::printf("  %s\n  %s\n", hunt.example()->detail.c_str(),
                  hunt.example()->job.command().c_str());
    }
    for (const JobResult& broken : hunt.broken()) {
      std::printf("FAILED  seed %llu of %s without a mutant, rule %s\n  %s\n  run again: %s\n",
                  static_cast<unsigned long long>(broken.job.seed), broken.job.scenario.c_str(),
                  broken.rule.c_str(), broken.detail.c_str(), broken.job.command().c_str());
    }
    std::fflush(stdout);
  }
};

}  // namespace

int run_mutants(const MutantOptions& options) {
  WorkerPool pool(
      {options.jobs, options.seed_timeout, [](const Job& job) { return run_job(job); }});
  Progress progress(options.mutants.size(), std::chrono::seconds(0));
  Table::print_head();
  uint64_t seeds = 0;
  size_t done = 0;
  size_t survived = 0;
  size_t broken = 0;
  for (Mutant mutant : options.mutants) {
    std::string scenario =
        options.scenario.empty() ? std::string(hunting_scenario(mutant)) : options.scenario;
    Hunt hunt(mutant, std::move(scenario), options.seeds_max);
    while (!hunt.decided()) {
      pool.run([&] { return hunt.next(); }, [&](const JobResult& result) { hunt.take(result); },
               [&] {
                 progress.update(done, std::string(mutant_name(mutant)) + ", " +
                                           std::to_string(hunt.seeds()) + " seeds");
               });
    }
    progress.clear();
    Table::print(hunt, options.examples);
    seeds += hunt.seeds();
    if (!hunt.median()) ++survived;
    broken += hunt.broken().size();
    ++done;
  }
  std::printf("\n%zu of %zu mutants caught, %llu seeds, %.0f s\n", done - survived, done,
              static_cast<unsigned long long>(seeds), progress.seconds());
  if (broken > 0) std::printf("%zu seeds failed without a mutant\n", broken);
  return survived + broken == 0 ? 0 : 1;
}

}  // namespace morula::sim
