#include "sim/sweep/sweep.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/sweep/progress.hpp"
#include "sim/sweep/summary.hpp"
#include "sim/sweep/worker_pool.hpp"

namespace morula::sim {

namespace {

std::string xml(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out.push_back(c < ' ' && c != '\n' ? '?' : c);
    }
  }
  return out;
}

/// False, with a message: not all that was written is there.
bool close_written(std::FILE* file, const std::string& name) {
  const bool sound = std::ferror(file) == 0;
  if (std::fclose(file) == 0 && sound) return true;
  std::fprintf(stderr, "morula-sim: %s could not be written\n", name.c_str());
  return false;
}

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : options_(options), progress_(total(), options.time), next_(first_seed()) {}

  int run();

 private:
  uint64_t first_seed() const;
  uint64_t total() const;
  std::optional<Job> next();
  void take(const JobResult& result);
  void print_failure(const JobResult& result);
  bool close_jsonl();
  bool write_junit() const;
  bool has_required() const;

  const SweepOptions& options_;
  Progress progress_;
  Summary summary_;
  std::vector<JobResult> failed_;
  uint64_t next_;
  size_t next_scenario_ = 0;
  std::FILE* jsonl_ = nullptr;
};

uint64_t Sweep::first_seed() const {
  const uint64_t off = options_.first % options_.share.of;
  return options_.first + (options_.share.index + options_.share.of - off) % options_.share.of;
}

uint64_t Sweep::total() const {
  if (options_.last == UINT64_MAX || first_seed() >= options_.last) return 0;
  const uint64_t seeds = (options_.last - first_seed() + options_.share.of - 1) / options_.share.of;
  return seeds * options_.scenarios.size();
}

std::optional<Job> Sweep::next() {
  if (next_ >= options_.last || failed_.size() >= options_.failures_max) return std::nullopt;
  if (options_.time.count() > 0 &&
      progress_.seconds() >= static_cast<double>(options_.time.count())) {
    return std::nullopt;
  }
  Job job;
  job.scenario = options_.scenarios[next_scenario_];
  job.seed = next_;
  job.twice = next_ / options_.share.of % kTwiceEvery == 0;
  if (++next_scenario_ == options_.scenarios.size()) {
    next_scenario_ = 0;
    next_ += options_.share.of;
  }
  return job;
}

void Sweep::take(const JobResult& result) {
  summary_.add(result);
  if (jsonl_ != nullptr) std::fprintf(jsonl_, "%s\n", result.encode().c_str());
  if (!result.failed()) return;
  failed_.push_back(result);
  print_failure(result);
}

void Sweep::print_failure(const JobResult& result) {
  progress_.clear();
  std::printf("FAILED  seed %llu of %s, rule %s, at %.3f s\n  %s\n  run again: %s\n",
              static_cast<unsigned long long>(result.job.seed), result.job.scenario.c_str(),
              result.rule.c_str(), static_cast<double>(result.failed_at_us) / 1e6,
              result.detail.c_str(), result.job.command().c_str());
  std::fflush(stdout);
}

int Sweep::run() {
  if (!options_.jsonl_file.empty()) {
    jsonl_ = std::fopen(options_.jsonl_file.c_str(), "w");
    if (jsonl_ == nullptr) {
      std::fprintf(stderr, "morula-sim: can't write %s: %s\n", options_.jsonl_file.c_str(),
                   strerrordesc_np(errno));
      return 2;
    }
  }
  WorkerPool pool(
      {options_.jobs, options_.seed_timeout, [](const Job& job) { return run_job(job); }});
  pool.run([this] { return next(); }, [this](const JobResult& result) { take(result); },
           [this] {
             progress_.update(summary_.seeds(), std::to_string(summary_.failures()) + " failed");
           });
  progress_.clear();
  if (failed_.size() >= options_.failures_max) {
    std::printf("stopped after %zu failures\n", failed_.size());
  }
  summary_.print(stdout, progress_.seconds());
  if (!close_jsonl()) return 2;
  if (!write_junit()) return 2;
  if (summary_.seeds() == 0 && options_.time.count() == 0) {
    std::fprintf(stderr, "morula-sim: there is no seed in this range, or in this share of it\n");
    return 2;
  }
  return has_required() && failed_.empty() ? 0 : 1;
}

bool Sweep::close_jsonl() {
  return jsonl_ == nullptr || close_written(std::exchange(jsonl_, nullptr), options_.jsonl_file);
}

bool Sweep::has_required() const {
  if (!options_.require_pairs) return true;
  const std::vector<std::string> missing = summary_.missing_pairs();
  if (missing.empty()) return true;
  std::printf("FAILED  no fault met a step in these pairs, which is required (--require-pairs):\n");
  for (const std::string& pair : missing) std::printf("  %s\n", pair.c_str());
  return false;
}

bool Sweep::write_junit() const {
  if (options_.junit_file.empty()) return true;
  std::FILE* out = std::fopen(options_.junit_file.c_str(), "w");
  if (out == nullptr) {
    std::fprintf(stderr, "morula-sim: can't write %s: %s\n", options_.junit_file.c_str(),
                 strerrordesc_np(errno));
    return false;
  }
  std::fprintf(out, "<testsuite name=\"morula-sim sweep\" tests=\"%llu\" failures=\"%llu\">\n",
               static_cast<unsigned long long>(summary_.seeds()),
               static_cast<unsigned long long>(summary_.failures()));
  for (const JobResult& result : failed_) {
    std::fprintf(out,
                 "  <testcase classname=\"%s\" name=\"seed %llu\">\n    <failure message=\"%s\">"
                 "%s\n%s</failure>\n  </testcase>\n",
                 xml(result.job.scenario).c_str(), static_cast<unsigned long long>(result.job.seed),
                 xml(result.rule).c_str(), xml(result.detail).c_str(),
                 xml(result.job.command()).c_str());
  }
  std::fprintf(out, "</testsuite>\n");
  return close_written(out, options_.junit_file);
}

}  // namespace

int run_sweep(const SweepOptions& options) {
  return Sweep(options).run();
}

}  // namespace morula::sim
