#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "tests/tidy/rules.hpp"

namespace morula::tidy {

namespace {

struct Include {
  size_t line = 0;
  bool system = false;
  std::string path;
};

std::vector<Include> includes(const SourceFile& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(file.lines[i], match, kInclude)) {
      found.push_back({i + 1, match.str(1) == "<", match.str(2)});
    }
  }
  return found;
}

/// Headers that neither act on the outside world nor make results differ between machines.
const std::set<std::string, std::less<>>& allowed_in_core() {
  static const std::set<std::string, std::less<>> kAllowed = {"algorithm",
                                                              "array",
                                                              "bit",
                                                              "charconv",
                                                              "chrono",
                                                              "compare",
                                                              "concepts",
                                                              "cstddef",
                                                              "cstdint",
                                                              "cstdlib",
                                                              "cstring",
                                                              "deque",
                                                              "exception",
                                                              "functional",
                                                              "initializer_list",
                                                              "iterator",
                                                              "limits",
                                                              "list",
                                                              "map",
                                                              "memory",
                                                              "new",
                                                              "numeric",
                                                              "optional",
                                                              "queue",
                                                              "set",
                                                              "span",
                                                              "string",
                                                              "string_view",
                                                              "tuple",
                                                              "type_traits",
                                                              "utility",
                                                              "variant",
                                                              "vector",
                                                              "tl/expected.hpp"};
  return kAllowed;
}

/// What single files need, and why they may.
const std::map<std::string, std::set<std::string>>& allowed_in_file() {
  static const std::map<std::string, std::set<std::string>> kAllowed = {
      {"core/base/check.cpp", {"cstdio"}},  // the last words before the abort
      {"core/base/codec.cpp", {"xxhash.h"}},
      {"core/base/ids.cpp", {"xxhash.h"}},
      {"core/lsm/packed_block.cpp", {"lz4.h"}},
      {"core/base/json_parse.cpp", {"simdjson.h"}},
      {"core/stream/json_messages.cpp", {"simdjson.h"}},
      // Fibers: their stacks, switches, exceptions, and what sanitizers must be told of them.
      {"core/rt/stack_pool.cpp", {"sys/mman.h", "unistd.h"}},
      {"core/rt/fiber.cpp", {"boost/context/detail/fcontext.hpp", "cxxabi.h"}},
      {"core/rt/fiber_impl.hpp", {"boost/context/detail/fcontext.hpp", "cxxabi.h"}},
      {"core/rt/scheduler.cpp", {"boost/context/detail/fcontext.hpp", "cxxabi.h"}},
      {"core/rt/sanitizer.cpp",
       {"sanitizer/asan_interface.h", "sanitizer/common_interface_defs.h",
        "sanitizer/lsan_interface.h"}},
  };
  return kAllowed;
}

/// Bottom to top: a room includes itself and what stands before it.
constexpr std::string_view kCoreRooms[] = {"base",  "rt",       "store",  "log",    "lsm",
                                           "shard", "topology", "stream", "queue",  "tenant",
                                           "fleet", "api",      "cell",   "inspect"};

/// What each top folder may include besides itself.
const std::map<std::string, std::set<std::string>, std::less<>>& allowed_tops() {
  static const std::map<std::string, std::set<std::string>, std::less<>> kAllowed = {
      {"core", {}},
      {"invariants", {"core"}},
      {"sim", {"core", "invariants"}},
      {"prod", {"core"}},
  };
  return kAllowed;
}

std::optional<size_t> level(std::string_view room) {
  const auto* const found = std::find(std::begin(kCoreRooms), std::end(kCoreRooms), room);
  if (found == std::end(kCoreRooms)) return std::nullopt;
  return static_cast<size_t>(found - std::begin(kCoreRooms));
}

std::string_view part(std::string_view path, size_t which) {
  for (; which > 0; --which) {
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return {};
    path.remove_prefix(slash + 1);
  }
  return path.substr(0, path.find('/'));
}

}  // namespace

Findings core_includes_only_what_is_allowed(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp() || file.top() != "core") continue;
    const auto own = allowed_in_file().find(file.path);
    for (const Include& include : includes(file)) {
      if (!include.system || allowed_in_core().contains(include.path)) continue;
      if (own != allowed_in_file().end() && own->second.contains(include.path)) continue;
      findings.push_back({file.path, include.line, "core-include",
                          "<" + include.path + "> is not among what core may include"});
    }
  }
  return findings;
}

Findings rooms_include_downwards(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    const auto tops = allowed_tops().find(file.top());
    if (!file.is_cpp() || tops == allowed_tops().end()) continue;
    for (const Include& include : includes(file)) {
      if (include.system) continue;
      const std::string top(part(include.path, 0));
      if (top != file.top() && !tops->second.contains(top)) {
        findings.push_back({file.path, include.line, "room",
                            std::string(file.top()) + "/ must not know " + include.path});
      } else if (top == "core" && file.top() == "core") {
        const auto from = level(file.room());
        const auto to = level(part(include.path, 1));
        if (!from || !to || *to > *from) {
          findings.push_back(
              {file.path, include.line, "room",
               "core/" + std::string(file.room()) + " stands below " + include.path});
        }
      }
    }
  }
  return findings;
}

Findings heavy_headers_stay_out_of_headers(const SourceTree& tree) {
  static const std::regex kHeavy(
      R"(^(boost/(asio|beast)|simdjson|spdlog|CLI|curl|gtest|rapidcheck)\b)");
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_header() || file.top() == "tests") continue;
    for (const Include& include : includes(file)) {
      if (include.system && std::regex_search(include.path, kHeavy)) {
        findings.push_back({file.path, include.line, "heavy-include",
                            "<" + include.path + "> costs every file that includes this one"});
      }
    }
  }
  return findings;
}

}  // namespace morula::tidy
