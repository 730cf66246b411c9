// What the commands of morula-sim have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/sweep/job.hpp"
#include "sim/sweep/share.hpp"

namespace morula::sim {

/// Complains. Returns the exit code of wrong usage.
int usage(const std::string& message);

/// "i/n", 0 <= i < n. False: it is not.
bool parse_share(const std::string& text, Share& share);

/// A world that somebody wants to see.
struct WorldToShow {
  std::string name;        // "seed 17 of default"
  std::string command;     // that runs it again
  std::string trace_file;  // for all of what happens; "-": stdout; empty: for nothing of it
};
/// Runs it in this process, tells it where the lines of its trace go and whether all of them are
/// wanted, and prints what came of it. Without a trace file, a world that fails shows its last
/// lines. nullopt: the file can't be written, and that was said.
std::optional<JobResult> show_world(
    const WorldToShow& world,
    const std::function<JobResult(const SimTrace::LineSink& lines, bool detail)>& run);

}  // namespace morula::sim
