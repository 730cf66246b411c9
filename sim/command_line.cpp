#include "sim/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>

namespace morula::sim {

namespace {

constexpr size_t kLastLines = 60;  // of the trace, shown when a world fails

void print(const WorldToShow& world, const JobResult& result) {
  std::printf(
      "%s  %s: %.3f virtual seconds, %llu client operations, %llu store requests, %.0f ms\n",
      std::string(to_string(result.verdict)).c_str(), world.name.c_str(),
      static_cast<double>(result.virtual_us) / 1e6,
      static_cast<unsigned long long>(result.operations),
      static_cast<unsigned long long>(result.store_requests),
      static_cast<double>(result.cpu_us) / 1e3);
  for (const auto& [name, count] : result.faults) {
    std::printf("  %llu x %s\n", static_cast<unsigned long long>(count), name.c_str());
  }
  if (result.verdict == Verdict::kHeld) return;
  std::printf("rule %s broke at %.6f s\n  %s\n  run again: %s\n", result.rule.c_str(),
              static_cast<double>(result.failed_at_us) / 1e6, result.detail.c_str(),
              world.command.c_str());
}

}  // namespace

int usage(const std::string& message) {
  std::fprintf(stderr, "morula-sim: %s\n", message.c_str());
  return 2;
}

bool parse_share(const std::string& text, Share& share) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  return CLI::detail::lexical_cast(text.substr(0, slash), share.index) &&
         CLI::detail::lexical_cast(text.substr(slash + 1), share.of) && share.index < share.of;
}

std::optional<JobResult> show_world(
    const WorldToShow& world,
    const std::function<JobResult(const SimTrace::LineSink& lines, bool detail)>& run) {
  std::ofstream file;
  std::deque<std::string> last;
  SimTrace::LineSink lines;
  if (world.trace_file == "-") {
    lines = [](const std::string& line) { std::cout << line << "\n"; };
  } else if (!world.trace_file.empty()) {
    file.open(world.trace_file);
    if (!file) {
      usage("can't write " + world.trace_file);
      return std::nullopt;
    }
    lines = [&](const std::string& line) { file << line << "\n"; };
  } else {
    lines = [&](const std::string& line) {
      last.push_back(line);
      if (last.size() > kLastLines) last.pop_front();
    };
  }
  const JobResult result = run(lines, !world.trace_file.empty());
  std::cout.flush();
  if (result.failed()) {
    for (const std::string& line : last) std::printf("%s\n", line.c_str());
  }
  print(world, result);
  return result;
}

}  // namespace morula::sim
