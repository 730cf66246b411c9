#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <regex>
#include <set>
#include <thread>

#include "tests/tidy/rules.hpp"

namespace morula::tidy {

namespace {

/// What the command printed; empty when it succeeded.
std::string output_of_failure(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "cannot be started: " + command;
  std::string output;
  std::array<char, 4096> buffer{};
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), n);
  }
  return pclose(pipe) == 0 ? "" : output + " ";
}

/// The path without its extension: what a header and its source share.
std::string stem(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

/// What the first include of the file names; empty if it has none.
std::string first_include(const SourceFile& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::smatch match;
  for (const std::string& line : file.lines) {
    if (std::regex_search(line, match, kInclude)) return match.str(1);
  }
  return {};
}

/// The headers that the build does not prove already, by a source that includes them first.
std::vector<std::string> unproven_headers(const SourceTree& tree) {
  std::set<std::string> proven;
  for (const SourceFile& file : tree.files) {
    if (file.is_cpp() && !file.is_header()) proven.insert(first_include(file));
  }
  std::vector<std::string> headers;
  for (const SourceFile& file : tree.files) {
    if (file.is_header() && !proven.contains(file.path)) headers.push_back(file.path);
  }
  return headers;
}

/// The first line that says what is wrong.
std::string first_error(const std::string& output) {
  const size_t error = output.find("error: ");
  const size_t start = error == std::string::npos ? 0 : error + 7;
  return output.substr(start, output.find('\n', start) - start);
}

}  // namespace

Findings no_header_is_dead(const SourceTree& tree) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*"([^"]+)\")");
  std::set<std::string> alive;
  for (const SourceFile& file : tree.files) {
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!file.is_cpp() || !std::regex_search(line, match, kInclude)) continue;
      // Its own source knows it anyway, and a test alone keeps nothing alive that ships.
      const std::string header = match.str(1);
      const bool ships = header.starts_with("core/") || header.starts_with("prod/");
      const bool only_tests = file.top() == "tests" && ships;
      if (stem(header) != stem(file.path) && !only_tests) alive.insert(header);
    }
  }
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (file.is_header() && !alive.contains(file.path)) {
      findings.push_back({file.path, 0, "dead-file", "nobody but its tests includes it"});
    }
  }
  return findings;
}

Findings every_source_is_built(const SourceTree& tree, const std::string& compile_commands) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp() || file.is_header()) continue;
    if (file.path.starts_with("tests/fuzz/")) continue;    // in a build of their own, with clang
    if (file.path == "bench/rocksdb_bench.cpp") continue;  // where librocksdb-dev is installed
    if (compile_commands.find("/" + file.path + "\"") == std::string::npos) {
      findings.push_back({file.path, 0, "dead-file", "is not built"});
    }
  }
  return findings;
}

Findings headers_stand_alone(const SourceTree& tree, const std::string& compiler) {
  const std::vector<std::string> headers = unproven_headers(tree);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Findings findings;
  const auto work = [&] {
    for (size_t i = next++; i < headers.size(); i = next++) {
      const std::string output =
          output_of_failure("cd '" + tree.root.string() + "' && " + compiler +
                            " -std=c++20 -fsyntax-only -w -DMORULA_MUTANTS "
                            "-DMORULA_SOURCE_DIR='\"\"' -I . -include '" +
                            headers[i] + "' -x c++ /dev/null");
      if (output.empty()) continue;
      const std::lock_guard lock(mutex);
      findings.push_back({headers[i], 0, "stands-alone", first_error(output)});
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back(work);
  }
  for (std::thread& worker : workers) worker.join();
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return a.path < b.path; });
  return findings;
}

}  // namespace morula::tidy
