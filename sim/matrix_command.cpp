#include "sim/matrix_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sim/command_line.hpp"

namespace morula::sim {

namespace {

std::string footer() {
  std::string text = R"(
Each operation runs first in a small world without faults, whose store requests and suspension
points are counted. Then it runs once for each of them, each fault that can befall it there, and
each recovery; and once for each request that is held back while another operation of the same
lineage comes in between. Every invariant is on, and at the end everything is read.

  morula-sim matrix                                  all of it, with tables of what was run
  morula-sim matrix --only split --only move         what befalls these
  morula-sim matrix --shard 0/4                      one of four independent jobs
  morula-sim matrix --case split/crash/request:3/same
                                                     one case; if it fails, the end of its trace
  morula-sim matrix --case flush/pause/switch:9/other --trace -
                                                     all of what happens in it
  morula-sim matrix --only split --mutant no_reopen  is a broken rule noticed?

A case is operation/fault/point/recovery; a point is request:N or switch:N, from 1 on, in the
process that carries the operation out.

operations
)";
  for (size_t i = 0; i < kOperations; ++i) {
    text.append("  ").append(kOperationNames[i]).append(12 - kOperationNames[i].size(), ' ');
    text.append(" in ").append(kOperationVictims[i]).append("\n");
  }
  text += "faults\n";
  for (size_t i = 0; i < kBlows; ++i) {
    std::string name(kBlowNames[i]);
    if (static_cast<Blow>(i) == Blow::meets) name += "_OPERATION";
    text.append("  ").append(name).append(16 - name.size(), ' ').append(kBlowSentences[i]);
    text.append("\n");
  }
  return text + R"(recoveries
  same             the struck process starts again under its name, wakes, or finds out by itself
  other            it dies for good (once it has woken, or a moment after the request), and another
                   takes over
  unlanded         of a race: the request lands after the other operation
  unanswered       of a race: it lands at once, and is answered after the other operation

Exit codes: 0 every case held, 1 one failed, 2 wrong usage.)";
}

int run_one(const MatrixArguments& arguments) {
  const auto which = MatrixCase::parse(arguments.one);
  if (!which) return usage(which.error().message);
  const MatrixOptions& options = arguments.options;
  const auto result =
      show_world({arguments.one, matrix_command(arguments.one, options.seed, options.mutant),
                  arguments.trace_file},
                 [&](const SimTrace::LineSink& lines, bool detail) {
                   return run_matrix_job(*which, options.seed, options.mutant, lines, detail);
                 });
  if (!result) return 2;
  return result->failed() ? 1 : 0;
}

}  // namespace

int matrix(MatrixArguments& arguments) {
  MatrixOptions& options = arguments.options;
  const auto mutant = find_mutant(arguments.mutant);
  if (!mutant) return usage(mutant.error().message);
  options.mutant = *mutant;
  if (!arguments.shard.empty() && !parse_share(arguments.shard, options.share)) {
    return usage("--shard wants i/n with 0 <= i < n, not \"" + arguments.shard + "\"");
  }
  for (const std::string& name : arguments.only) {
    const auto found = std::ranges::find(kOperationNames, name);
    if (found == std::end(kOperationNames)) {
      return usage("\"" + name + "\" is no operation: see `morula-sim matrix --help`");
    }
    options.operations.push_back(static_cast<Operation>(found - std::begin(kOperationNames)));
  }
  return arguments.one.empty() ? run_matrix(options) : run_one(arguments);
}

void add_matrix(CLI::App& app, MatrixArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "matrix", "Strike each operation at every store request and every suspension point");
  command->footer(footer());
  MatrixOptions& options = arguments.options;
  command->add_option("--case", arguments.one, "Only this one: operation/fault/point/recovery");
  command->add_option("--only", arguments.only, "These operations instead of all");
  command->add_option("--shard", arguments.shard,
                      "i/n: only the cases that are i modulo n, for n jobs of a scheduler");
  command->add_option("--jobs", options.jobs, "Worker processes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--mutant", arguments.mutant, "Break this rule on purpose");
  command->add_option("--seed", options.seed, "Of latencies and clients")->capture_default_str();
  command->add_option("--failures", options.failures_max, "Stop after so many failures")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--trace", arguments.trace_file,
                      "With --case: write what happens to this file (-: here)");
}

}  // namespace morula::sim
