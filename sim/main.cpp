// morula-sim: runs cells in simulated worlds and says which promise broke, with the seed that shows
// it again.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "sim/command_line.hpp"
#include "sim/matrix_command.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/sweep/job.hpp"
#include "sim/sweep/mutants.hpp"
#include "sim/sweep/sweep.hpp"

namespace {

using namespace morula::sim;

constexpr const char* kFooter = R"(
A world is a cell of instances, its clients, a simulated store and network, and faults, all drawn
from one seed. The same binary, scenario and seed give the same world, event by event.

  morula-sim sweep --seeds 0..2000           does every promise hold in 2,000 worlds?
  morula-sim run --seed 17                   one world, with the last lines of its trace if it fails
  morula-sim run --seed 17 --trace -         all of what happens in it
  morula-sim run --seed 17 --hash            ends with the 64-bit hash of its trace
  morula-sim sweep --seeds 0..1000000 --shard 3/16 --jsonl 3.jsonl
                                             one of 16 independent jobs of a larger sweep
  morula-sim replay 3.jsonl                  what failed there: does it still, and in the same way?
  morula-sim mutants                         is each rule's absence noticed?
  morula-sim matrix                          a fault at each point of a split, a move, a flush, ...?

Exit codes: 0 every promise held, 1 one broke (or a mutant survived), 2 wrong usage.)";

struct RunOptions {
  Job job;
  std::string mutant = "none";
  std::string trace_file;
  bool hash = false;
};

std::string unknown_scenario(const std::string& name) {
  return "there is no scenario \"" + name + "\"; `morula-sim scenarios` lists them";
}

int run_one(RunOptions& options) {
  if (find_scenario(options.job.scenario) == nullptr) {
    return usage(unknown_scenario(options.job.scenario));
  }
  auto mutant = find_mutant(options.mutant);
  if (!mutant) return usage(mutant.error().message);
  options.job.mutant = *mutant;

  const Job& job = options.job;
  const auto result = show_world(
      {"seed " + std::to_string(job.seed) + " of " + job.scenario, job.command(),
       options.trace_file},
      [&](const SimTrace::LineSink& lines, bool detail) { return run_job(job, lines, detail); });
  if (!result) return 2;
  if (options.hash) std::printf("%016llx\n", static_cast<unsigned long long>(result->hash));
  return result->failed() ? 1 : 0;
}

int replay(const std::string& file_name) {
  std::ifstream file(file_name);
  if (!file) return usage("can't read " + file_name);
  uint64_t failed = 0;
  uint64_t again = 0;
  for (std::string line; std::getline(file, line);) {
    auto before = JobResult::decode(line);
    if (!before) return usage(file_name + ": no line of a sweep's --jsonl: " + line.substr(0, 80));
    if (!before->failed()) continue;
    ++failed;
    const JobResult now = run_job(before->job);
    const bool same = now.failed() && now.rule == before->rule;
    std::printf("%s  seed %llu of %s: was rule %s, now %s%s\n", same ? "same   " : "differs",
                static_cast<unsigned long long>(before->job.seed), before->job.scenario.c_str(),
                before->rule.c_str(), now.failed() ? ("rule " + now.rule).c_str() : "held",
                same && now.hash != before->hash ? " (another trace)" : "");
    if (now.failed()) {
      ++again;
      std::printf("  %s\n  run again: %s\n", now.detail.c_str(), now.job.command().c_str());
    }
  }
  std::printf("%llu failed then, %llu of them fail now\n", static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(again));
  return again == 0 ? 0 : 1;
}

int list_scenarios() {
  for (const Scenario& scenario : all_scenarios()) {
    std::printf("%-20s %s\n", std::string(scenario.name).c_str(),
                std::string(scenario.sentence).c_str());
  }
  return 0;
}

/// "A..B", B exclusive.
bool parse_seeds(const std::string& text, SweepOptions& options) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) return false;
  return CLI::detail::lexical_cast(text.substr(0, dots), options.first) &&
         CLI::detail::lexical_cast(text.substr(dots + 2), options.last) &&
         options.first <= options.last;
}

/// "90s", "10m", "2h", or plain seconds.
bool parse_time(std::string text, std::chrono::seconds& time) {
  int64_t unit = 1;
  if (!text.empty() && !std::isdigit(static_cast<unsigned char>(text.back()))) {
    switch (text.back()) {
      case 's':
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      default:
        return false;
    }
    text.pop_back();
  }
  int64_t count = 0;
  if (!CLI::detail::lexical_cast(text, count) || count <= 0) return false;
  time = std::chrono::seconds(count * unit);
  return true;
}

struct SweepArguments {
  SweepOptions options;
  std::string seeds;
  std::string shard;
  std::string time;
};

int sweep(SweepArguments& arguments) {
  SweepOptions& options = arguments.options;
  if (!arguments.time.empty() && !parse_time(arguments.time, options.time)) {
    return usage("--time wants something like 90s, 10m or 2h, not \"" + arguments.time + "\"");
  }
  if (arguments.seeds.empty()) {
    if (options.time.count() == 0) return usage("sweep wants --seeds A..B or --time, or both");
    options.last = UINT64_MAX;
  } else if (!parse_seeds(arguments.seeds, options)) {
    return usage("--seeds wants A..B with A <= B, not \"" + arguments.seeds + "\"");
  }
  if (!arguments.shard.empty() && !parse_share(arguments.shard, options.share)) {
    return usage("--shard wants i/n with 0 <= i < n, not \"" + arguments.shard + "\"");
  }
  if (options.scenarios == std::vector<std::string>{"all"}) {
    options.scenarios.clear();
    for (const Scenario& scenario : all_scenarios()) options.scenarios.emplace_back(scenario.name);
  }
  for (const std::string& name : options.scenarios) {
    if (find_scenario(name) == nullptr) return usage(unknown_scenario(name));
  }
  return run_sweep(options);
}

struct MutantArguments {
  MutantOptions options;
  std::vector<std::string> only;
  bool list = false;
};

int mutants(MutantArguments& arguments) {
  MutantOptions& options = arguments.options;
  for (const std::string& name : arguments.only) {
    auto mutant = find_mutant(name);
    if (!mutant) return usage(mutant.error().message);
    options.mutants.push_back(*mutant);
  }
  if (options.mutants.empty()) options.mutants = all_mutants();
  if (!options.scenario.empty() && find_scenario(options.scenario) == nullptr) {
    return usage(unknown_scenario(options.scenario));
  }
  if (!arguments.list) return run_mutants(options);
  for (morula::Mutant mutant : options.mutants) {
    std::printf("%-28s %-20s %s\n", std::string(mutant_name(mutant)).c_str(),
                std::string(hunting_scenario(mutant)).c_str(),
                std::string(mutant_rule(mutant)).c_str());
  }
  return 0;
}

void add_seed_timeout(CLI::App& command, std::chrono::seconds& timeout) {
  command.add_option_function<int64_t>(
      "--seed-timeout", [&timeout](int64_t seconds) { timeout = std::chrono::seconds(seconds); },
      "Seconds of wall time after which a seed has failed (default 120)");
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command = app.add_subcommand("run", "Run one seed and say what came of it");
  command->add_option("--seed", options.job.seed, "Which world")->required();
  command->add_option("--scenario", options.job.scenario, "Which kind of world")
      ->capture_default_str();
  command->add_option("--mutant", options.mutant, "Break this rule on purpose");
  command->add_option("--trace", options.trace_file, "Write what happens to this file (-: here)");
  command->add_flag("--hash", options.hash, "Print the hash of the trace as the last line");
  command->add_flag("--twice", options.job.twice, "Run it again and compare");
}

void add_sweep(CLI::App& app, SweepArguments& arguments) {
  CLI::App* command = app.add_subcommand("sweep", "Run many seeds in worker processes");
  SweepOptions& options = arguments.options;
  command->add_option("--seeds", arguments.seeds, "A..B: from A, up to but without B");
  command
      ->add_option("--scenario", options.scenarios,
                   "Which kinds of world, each with every seed; all: all of them")
      ->capture_default_str();
  command->add_option("--jobs", options.jobs, "Worker processes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--time", arguments.time, "Start no seed after this time: 90s, 10m, 2h");
  command->add_option("--shard", arguments.shard,
                      "i/n: only the seeds that are i modulo n, for n jobs of a scheduler");
  command->add_option("--junit", options.junit_file, "Write failures here as JUnit XML");
  command->add_option("--jsonl", options.jsonl_file, "Write one line of JSON per seed here");
  command->add_option("--failures", options.failures_max, "Stop after so many failures")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--require-pairs", options.require_pairs,
                    "Fail if a fault has not met a step that 2,000 seeds of the default scenario "
                    "have to reach (* in the table)");
  add_seed_timeout(*command, options.seed_timeout);
}

void add_mutants(CLI::App& app, MutantArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "mutants", "Break each rule on purpose and see after how many seeds something notices");
  MutantOptions& options = arguments.options;
  command->add_option("--seeds", options.seeds_max, "Give up on a mutant after so many seeds")
      ->capture_default_str();
  command->add_option("--only", arguments.only, "These mutants instead of all");
  command->add_option("--scenario", options.scenario,
                      "Hunt in this kind of world instead of the one that hunts each mutant best");
  command->add_option("--jobs", options.jobs, "Worker processes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_flag("--list", arguments.list, "Only list them");
  command->add_flag("--examples", options.examples, "Show a seed that catches each");
  add_seed_timeout(*command, options.seed_timeout);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  CLI::App app("Runs morula cells in simulated worlds, and says which promise broke.",
               "morula-sim");
  app.footer(kFooter);
  app.require_subcommand(1);
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());

  RunOptions run_options;
  SweepArguments sweep_arguments;
  MutantArguments mutant_arguments;
  MatrixArguments matrix_arguments;
  std::string replay_file;
  sweep_arguments.options.jobs = cores;
  mutant_arguments.options.jobs = cores;
  matrix_arguments.options.jobs = cores;
  add_run(app, run_options);
  add_sweep(app, sweep_arguments);
  CLI::App* replay_command =
      app.add_subcommand("replay", "Run again what failed in a sweep's --jsonl file");
  replay_command->add_option("file", replay_file, "The file")->required();
  add_mutants(app, mutant_arguments);
  add_matrix(app, matrix_arguments);
  app.add_subcommand("scenarios", "List the kinds of worlds");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (app.got_subcommand("run")) return run_one(run_options);
  if (app.got_subcommand("sweep")) return sweep(sweep_arguments);
  if (app.got_subcommand("replay")) return replay(replay_file);
  if (app.got_subcommand("mutants")) return mutants(mutant_arguments);
  if (app.got_subcommand("matrix")) return matrix(matrix_arguments);
  return list_scenarios();
}
