// morula-spec: explores the specs of tla/ by their executable twins.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "invariants/spec/expectation.hpp"
#include "invariants/spec/exploration.hpp"

namespace {

using namespace morula;
using namespace morula::spec;

constexpr const char* kFooter = R"(
The specs are in tla/, their twins in invariants/spec/. A twin reads the .cfg files that TLC and
tla-checker read, finds every state that the spec can reach, and compares with tla/expected.json:
the number of distinct states and their depth, or the invariant that is violated and the length of
the shortest trace to it.

  morula-spec check                        all configurations but the longest
  morula-spec check --all                  those too (a minute in all)
  morula-spec check --config tla/cfg/ol_m_noSeal.cfg
  morula-spec run tla/cfg/ol_m_noSeal.cfg  one of them, with the trace if an invariant is violated

Exit codes: 0 all is as expected (run: every invariant holds), 1 it is not, 2 wrong usage.)";

struct Options {
  std::string tla = "tla";
  std::vector<std::string> configs;
  std::string run;
  bool all = false;
  uint64_t memory_mib = 4096;
};

struct Explored {
  Exploration found;
  double seconds = 0;
};

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int usage(const std::string& message) {
  std::fprintf(stderr, "morula-spec: %s\n", message.c_str());
  return 2;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

/// One line that is written over; none where nobody looks.
class ProgressLine {
 public:
  void show(const std::string& name, const Exploration& found) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    std::fprintf(stderr, "\r%-32s %9llu states, depth %d, %llu MiB \r", name.c_str(),
                 static_cast<unsigned long long>(found.distinct), found.depth,
                 static_cast<unsigned long long>(found.memory_bytes >> 20));
  }
  void clear() const {
    if (shown_) std::fprintf(stderr, "%-79s\r", "");
  }

 private:
  const bool shown_ = isatty(STDERR_FILENO) != 0;
  std::chrono::steady_clock::time_point last_{};
};

Result<Explored> explore_file(const std::string& path, const std::string& spec_name,
                              const Options& options) {
  const auto text = read_file(path);
  if (!text) return fail(ErrorCode::kNotFound, path + " cannot be read");
  const auto config = ModelConfig::parse(*text);
  MORULA_TRY(config);
  ProgressLine line;
  Limits limits;
  limits.memory_bytes = options.memory_mib << 20;
  limits.progress = [&](const Exploration& found) { line.show(name_of(path), found); };
  const auto start = std::chrono::steady_clock::now();
  auto found = explore(spec_name, *config, limits);
  line.clear();
  MORULA_TRY(found);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return Explored{std::move(*found), took.count()};
}

std::string outcome(const Exploration& found) {
  if (!found.violated.empty()) {
    return found.violated + " violated, trace of " + std::to_string(found.trace_length());
  }
  return std::to_string(found.distinct) + " distinct states, depth " + std::to_string(found.depth);
}

Result<std::vector<Expectation>> expectations(const Options& options) {
  const std::string path = options.tla + "/expected.json";
  const auto text = read_file(path);
  if (!text) {
    return fail(ErrorCode::kNotFound, path + " cannot be read; --tla DIR says where tla/ is");
  }
  return parse_expectations(*text);
}

int check(const Options& options) {
  const auto expected = expectations(options);
  if (!expected) return usage(expected.error().message);
  std::set<std::string> chosen;
  for (const std::string& path : options.configs) chosen.insert(name_of(path));
  int passed = 0;
  int failed = 0;
  int left_out = 0;
  for (const Expectation& one : *expected) {
    if (!options.configs.empty() && chosen.erase(one.config) == 0) continue;
    if (options.configs.empty() && one.is_long && !options.all) {
      ++left_out;
      continue;
    }
    const auto explored =
        explore_file(options.tla + "/cfg/" + one.config + ".cfg", one.spec, options);
    std::string wrong =
        explored ? surprise(one, explored->found).value_or("") : explored.error().message;
    ++(wrong.empty() ? passed : failed);
    std::printf("%-7s %-26s %-44s %5.1f s %4llu MiB\n", wrong.empty() ? "ok" : "FAILED",
                one.config.c_str(), explored ? outcome(explored->found).c_str() : "",
                explored ? explored->seconds : 0.0,
                static_cast<unsigned long long>(explored ? explored->found.memory_bytes >> 20 : 0));
    if (!wrong.empty()) std::printf("        %s\n", wrong.c_str());
    std::fflush(stdout);
  }
  for (const std::string& name : chosen) {
    std::printf("FAILED  %-26s is not in expected.json\n", name.c_str());
    ++failed;
  }
  if (left_out > 0) std::printf("left out: %d long ones (--all)\n", left_out);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

int run(const Options& options) {
  const std::string name = name_of(options.run);
  std::string spec_name = name.starts_with("ol_")   ? "OwnershipLog"
                          : name.starts_with("tp_") ? "Topology"
                          : name.starts_with("ls_") ? "Lease"
                                                    : "";
  if (spec_name.empty()) return usage(name + ": ol_, tp_ or ls_ say which spec it is of");
  const auto explored = explore_file(options.run, spec_name, options);
  if (!explored) return usage(explored.error().message);
  const Exploration& found = explored->found;
  std::printf("%s: %s, %llu transitions, %.1f s, %llu MiB\n", name.c_str(), outcome(found).c_str(),
              static_cast<unsigned long long>(found.transitions), explored->seconds,
              static_cast<unsigned long long>(found.memory_bytes >> 20));
  for (const std::string& step : found.trace) std::printf("  %s\n", step.c_str());
  if (!found.complete && found.violated.empty()) std::printf("not all: no memory left\n");
  return found.complete ? 0 : 1;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  CLI::App app("Explores the specs of the ownership protocol by their executable twins.",
               "morula-spec");
  app.footer(kFooter);
  app.require_subcommand(1);
  Options options;
  CLI::App* checking = app.add_subcommand("check", "Is each configuration as expected?");
  checking->add_option("--config", options.configs, "Only these .cfg files");
  checking->add_flag("--all", options.all, "The longest too");
  checking->add_option("--tla", options.tla, "The folder with expected.json and cfg/")
      ->capture_default_str();
  CLI::App* running = app.add_subcommand("run", "Explore one configuration");
  running->add_option("config", options.run, "A .cfg file")->required();
  for (CLI::App* command : {checking, running}) {
    command->add_option("--memory-mib", options.memory_mib, "Memory for the states found")
        ->check(CLI::Range(64, 1 << 20))
        ->capture_default_str();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return checking->parsed() ? check(options) : run(options);
}
