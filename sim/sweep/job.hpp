// One seed to be run, and what came of it, as lines of JSON: how a sweep talks to its worker
// processes, and what `--jsonl` keeps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutant.hpp"
#include "core/base/result.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

struct Job {
  std::string scenario = "default";
  uint64_t seed = 0;
  Mutant mutant = Mutant::none;
  bool twice = false;  // run it again and compare

  std::string encode() const;
  static Result<Job> decode(std::string_view line);
  /// The command that runs it again.
  std::string command() const;
};

enum class Verdict : uint8_t {
  kHeld,
  kFailed,
  kExpected,  // it failed as its scenario is there to show
};
std::string_view to_string(Verdict verdict);

struct JobResult {
  Job job;
  Verdict verdict = Verdict::kHeld;
  std::string rule;    // when not held
  std::string detail;  // for a person
  uint64_t hash = 0;
  uint64_t failed_at_us = 0;  // of virtual time
  uint64_t virtual_us = 0;
  uint64_t cpu_us = 0;  // of the first run
  uint64_t operations = 0;
  uint64_t store_requests = 0;
  uint64_t calls = 0;
  uint64_t switches = 0;
  std::map<std::string, uint64_t> purposes;
  std::map<std::string, uint64_t> faults;
  std::map<std::string, uint64_t> steps;
  std::map<std::string, uint64_t> pairs;  // of fault and step, see sim/faults/fault_steps.hpp
  std::map<std::string, bool> places;

  bool failed() const { return verdict == Verdict::kFailed; }
  std::string encode() const;
  static Result<JobResult> decode(std::string_view line);
};

/// "none" or the mutant's name.
std::string_view mutant_name(Mutant mutant);
/// kInvalid for a name that is none.
Result<Mutant> find_mutant(std::string_view name);
/// All but `none`.
std::vector<Mutant> all_mutants();
/// The rule that it breaks.
std::string_view mutant_rule(Mutant mutant);

/// Processor time that this process has taken so far.
uint64_t cpu_time_us();

/// What a seed's run has shown, as a result.
JobResult to_result(const Job& job, const SeedReport& report);

/// Runs the job in this process. `lines` gets the world's trace as text, with every request if
/// `detail`; may be empty.
JobResult run_job(const Job& job, const SimTrace::LineSink& lines, bool detail);
JobResult run_job(const Job& job);

}  // namespace morula::sim
