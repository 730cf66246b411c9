#include "sim/matrix/matrix.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/matrix/matrix_table.hpp"
#include "sim/matrix/matrix_world.hpp"
#include "sim/sweep/progress.hpp"
#include "sim/sweep/worker_pool.hpp"

namespace morula::sim {

namespace {

/// Cases of one of these are the same world until their fault.
using World = std::tuple<Operation, MatrixCell, Blow, Operation>;

World world_of(const MatrixCase& which) {
  const bool race = which.blow == Blow::meets;
  return {which.operation, cell_of(which), race ? Blow::meets : Blow::crash,
          race ? which.meets : Operation::split};
}

/// Without their points.
std::vector<MatrixCase> kinds_of(Operation operation) {
  std::vector<MatrixCase> kinds;
  for (size_t i = 0; i < kBlows; ++i) {
    const auto blow = static_cast<Blow>(i);
    if (blow == Blow::meets) continue;
    for (const Ending ending : {Ending::same, Ending::other}) {
      for (const PointKind kind : {PointKind::request, PointKind::switches}) {
        if (kind == PointKind::switches && !strikes_at_switches(blow)) continue;
        kinds.push_back({operation, blow, Operation::split, kind, 0, ending});
      }
    }
  }
  for (size_t i = 0; i < kOperations; ++i) {
    const auto meets = static_cast<Operation>(i);
    if (meets == Operation::accept) continue;  // a move is what makes another accept
    for (const Ending ending : {Ending::unlanded, Ending::unanswered}) {
      kinds.push_back({operation, Blow::meets, meets, PointKind::request, 0, ending});
    }
  }
  return kinds;
}

class Matrix {
 public:
  explicit Matrix(const MatrixOptions& options);
  int run();

 private:
  void count();
  void enumerate();
  void run_cases();
  JobResult run_here(const Job& job) const;
  Job job_of(const MatrixCase& which) const;
  void fail(const JobResult& result);
  WorkerPool::Options pool_options() const;

  const MatrixOptions& options_;
  std::vector<MatrixCase> kinds_;
  std::map<World, MatrixPoints> points_;
  std::deque<MatrixCase> cases_;
  MatrixTable table_;
  std::optional<Progress> progress_;
  uint64_t failed_ = 0;
  uint64_t done_ = 0;
  std::set<uint64_t> hashes_;  // of traces
};

Matrix::Matrix(const MatrixOptions& options) : options_(options) {
  for (size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const auto& only = options_.operations;
    if (!only.empty() && std::ranges::find(only, operation) == only.end()) continue;
    for (const MatrixCase& kind : kinds_of(operation)) kinds_.push_back(kind);
  }
}

Job Matrix::job_of(const MatrixCase& which) const {
  Job job;
  job.scenario = which.name();
  job.seed = options_.seed;
  job.mutant = options_.mutant;
  return job;
}

JobResult Matrix::run_here(const Job& job) const {
  const auto which = MatrixCase::parse(job.scenario);
  return run_matrix_job(*which, job.seed, job.mutant);
}

WorkerPool::Options Matrix::pool_options() const {
  return {options_.jobs, options_.case_timeout, [this](const Job& job) { return run_here(job); }};
}

void Matrix::fail(const JobResult& result) {
  ++failed_;
  if (progress_) progress_->clear();
  const std::string command =
      matrix_command(result.job.scenario, result.job.seed, result.job.mutant);
  std::printf("FAILED  %s, rule %s, at %.3f s\n  %s\n  run again: %s\n",
              result.job.scenario.c_str(), result.rule.c_str(),
              static_cast<double>(result.failed_at_us) / 1e6, result.detail.c_str(),
              command.c_str());
  std::fflush(stdout);
}

/// How many points each world has, by running it without a fault.
void Matrix::count() {
  std::map<World, MatrixCase> worlds;
  for (const MatrixCase& kind : kinds_) {
    MatrixCase counted = kind;
    counted.kind = PointKind::request;
    if (counted.blow != Blow::meets && !pauses(counted.blow)) counted.blow = Blow::crash;
    worlds.try_emplace(world_of(kind), counted);
  }
  auto next = worlds.begin();
  WorkerPool pool(pool_options());
  pool.run(
      [&]() -> std::optional<Job> {
        if (next == worlds.end()) return std::nullopt;
        return job_of((next++)->second);
      },
      [&](const JobResult& result) {
        const auto which = MatrixCase::parse(result.job.scenario);
        auto number = [&](const char* name) {
          const auto found = result.steps.find(name);
          return found == result.steps.end() ? 0 : static_cast<uint32_t>(found->second);
        };
        points_[world_of(*which)] = {number("requests"), number("switches")};
        if (result.failed()) fail(result);
      });
}

void Matrix::enumerate() {
  uint64_t number = 0;
  for (const MatrixCase& kind : kinds_) {
    const MatrixPoints& points = points_[world_of(kind)];
    const uint32_t last = kind.kind == PointKind::request ? points.requests : points.switches;
    for (uint32_t point = 1; point <= last; ++point) {
      if (!options_.share.takes(number++)) continue;
      MatrixCase& which = cases_.emplace_back(kind);
      which.point = point;
    }
  }
  for (const auto& [world, points] : points_) {
    const auto& [operation, cell, blow, meets] = world;
    if (blow != Blow::meets) table_.add_points(operation, cell, points);
  }
}

void Matrix::run_cases() {
  progress_.emplace(cases_.size(), std::chrono::seconds(0));
  WorkerPool pool(pool_options());
  pool.run(
      [&]() -> std::optional<Job> {
        if (cases_.empty() || failed_ >= options_.failures_max) return std::nullopt;
        const Job job = job_of(cases_.front());
        cases_.pop_front();
        return job;
      },
      [&](const JobResult& result) {
        ++done_;
        hashes_.insert(result.hash);
        const auto which = MatrixCase::parse(result.job.scenario);
        const auto met = result.steps.find("met");
        table_.add(*which, result.failed(), met != result.steps.end() && met->second > 0);
        if (result.failed()) fail(result);
      },
      [&] { progress_->update(done_, std::to_string(failed_) + " failed"); });
  progress_->clear();
}

int Matrix::run() {
  count();
  enumerate();
  run_cases();
  if (failed_ >= options_.failures_max) {
    std::printf("stopped after %llu failures\n", static_cast<unsigned long long>(failed_));
  }
  table_.print(stdout);
  // Two points between which nothing could be seen from outside give the same world.
  std::printf(
      "\n%llu cases, all of them run; %zu different worlds, by the hashes of their traces; "
      "%.0f s\n%llu passed, %llu failed\n",
      static_cast<unsigned long long>(done_), hashes_.size(), progress_->seconds(),
      static_cast<unsigned long long>(done_ - std::min(done_, failed_)),
      static_cast<unsigned long long>(failed_));
  return failed_ == 0 ? 0 : 1;
}

}  // namespace

int run_matrix(const MatrixOptions& options) {
  return Matrix(options).run();
}

JobResult run_matrix_job(const MatrixCase& which, uint64_t seed, Mutant mutant,
                         const SimTrace::LineSink& lines, bool detail) {
  active_mutant = mutant;
  const uint64_t begin = cpu_time_us();
  const MatrixReport report = run_matrix_case(which, seed, lines, detail);
  active_mutant = Mutant::none;
  Job job;
  job.scenario = which.name();
  job.seed = seed;
  job.mutant = mutant;
  JobResult result = to_result(job, report.seed);
  result.cpu_us = cpu_time_us() - begin;
  result.steps = {
      {"requests", report.requests}, {"switches", report.switches}, {"met", report.met ? 1 : 0}};
  if (result.verdict != Verdict::kHeld) return result;
  if (which.point == 0 && !report.ended) {
    result.verdict = Verdict::kFailed;
    result.rule = "operation";
    result.detail = "it did not come to its end, without any fault";
  }
  if (which.point > 0 && !report.struck) {
    result.verdict = Verdict::kFailed;
    result.rule = "point";
    result.detail = "the operation did not come to that point";
  }
  return result;
}

std::string matrix_command(const std::string& name, uint64_t seed, Mutant mutant) {
  std::string command = "morula-sim matrix --case " + name;
  if (seed != MatrixOptions{}.seed) command += " --seed " + std::to_string(seed);
  if (mutant != Mutant::none) command.append(" --mutant ").append(mutant_name(mutant));
  return command;
}

}  // namespace morula::sim
