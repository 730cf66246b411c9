#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/tidy/rules.hpp"

namespace morula::tidy {

namespace {

struct Ban {
  std::regex pattern;
  const char* reason;
};

/// Beyond what the headers that core may not include would bring.
const std::vector<Ban>& bans_of_core() {
  static const std::vector<Ban> kBans = [] {
    const std::pair<const char*, const char*> patterns[] = {
        {R"(\b(steady|system|high_resolution|utc|file)_clock\b)", "time comes from Clock"},
        {R"(\b(clock_gettime|gettimeofday|std::time|std::clock)\b)", "time comes from Clock"},
        {R"(\bstd::(j?thread|this_thread|async|future|promise|latch|barrier)\b)", "one thread"},
        {R"(\bstd::((recursive_|shared_|timed_)*mutex|condition_variable\w*|atomic\w*)\b)",
         "one thread"},
        {R"(\b(random_device|mt19937\w*|default_random_engine|\w+_distribution)\b)",
         "numbers come from Random"},
        {R"(\b(std::s?rand|std::shuffle|std::sample|drand48)\b)", "numbers come from Random"},
        {R"(\bunordered_(multi)?(map|set)\b)", "its order differs between runs"},
        {R"(\bstd::hash\b)", "its values differ between libraries"},
        {R"(\b(multi)?(map|set)<\s*(const\s+)?[\w:]+\s*(const\s*)?\*)", "ordered by address"},
        {R"(\bu?intptr_t\b)", "an address must decide nothing"},
        {R"(\bstd::(cout|cerr|clog|cin|[io]?fstream|filesystem|getenv|system)\b)",
         "the outside world is in Env"},
        {R"(\bstd::(sqrt|cbrt|pow|exp2?|log2?|log10|sin|cos|tan|floor|ceil|round|lround|hypot)\()",
         "results differ between machines"},
    };
    std::vector<Ban> bans;
    for (const auto& [pattern, reason] : patterns) bans.push_back({std::regex(pattern), reason});
    // The running fiber and the pool of stacks belong to a thread; nothing else does.
    bans.push_back({std::regex(R"(\bthread_local\b)"), "one thread"});
    return bans;
  }();
  return kBans;
}

bool may(const std::string& path, const std::string& what) {
  static const std::set<std::pair<std::string, std::string>> kExceptions = {
      {"core/rt/fiber.cpp", "thread_local"},
      {"core/rt/fiber.cpp", "uintptr_t"},
      {"core/rt/stack_pool.cpp", "thread_local"},
      {"core/rt/stack_pool.cpp", "uintptr_t"},
  };
  return kExceptions.contains({path, what});
}

const SourceFile* find(const SourceTree& tree, std::string_view path) {
  for (const SourceFile& file : tree.files) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

struct Name {
  std::string name;
  size_t line = 0;
};

/// The first arguments of the entries `X(name, "text")` of a list macro.
std::vector<Name> list_entries(const SourceFile& file) {
  static const std::regex kEntry(R"(^\s*X\((\w+),)");
  std::vector<Name> names;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(file.lines[i], match, kEntry)) names.push_back({match.str(1), i + 1});
  }
  return names;
}

/// Every match of the pattern's first group in core, other than in `list`, with where it is.
std::map<std::string, Findings> mentions(const SourceTree& tree, const SourceFile& list,
                                         const std::regex& pattern, bool in_comments) {
  std::map<std::string, Findings> found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp() || file.top() != "core" || file.path == list.path) continue;
    const auto& lines = in_comments ? file.lines : file.code;
    for (size_t i = 0; i < lines.size(); ++i) {
      for (auto match = std::sregex_iterator(lines[i].begin(), lines[i].end(), pattern);
           match != std::sregex_iterator(); ++match) {
        found[match->str(1)].push_back({file.path, i + 1, {}, {}});
      }
    }
  }
  return found;
}

bool any_in(const Findings& places, const std::string& path) {
  return std::any_of(places.begin(), places.end(),
                     [&](const Finding& place) { return place.path == path; });
}

}  // namespace

Findings core_is_deterministic(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp() || file.top() != "core") continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      for (const Ban& ban : bans_of_core()) {
        std::smatch match;
        if (!std::regex_search(file.code[i], match, ban.pattern)) continue;
        if (may(file.path, match.str())) continue;
        findings.push_back({file.path, i + 1, "deterministic", match.str() + ": " + ban.reason});
      }
    }
  }
  return findings;
}

Findings steps_are_taken(const SourceTree& tree) {
  static const std::regex kEmitted(R"(\bStep::k(\w+))");
  static const std::regex kSaid(R"(^\s*//+ Steps? ([A-Z]\w*))");
  const SourceFile* list = find(tree, "core/base/step.hpp");
  if (list == nullptr) return {};
  Findings findings;
  auto emitted = mentions(tree, *list, kEmitted, false);
  auto said = mentions(tree, *list, kSaid, true);
  std::set<std::string> known;
  for (const Name& step : list_entries(*list)) {
    known.insert(step.name);
    if (emitted[step.name].empty()) {
      findings.push_back({list->path, step.line, "step", step.name + " is never emitted"});
    }
    for (const Finding& place : emitted[step.name]) {
      if (!any_in(said[step.name], place.path)) {
        findings.push_back({place.path, place.line, "step",
                            "no function here says \"// Step " + step.name + "\""});
      }
    }
  }
  for (const auto& [name, places] : said) {
    for (const Finding& place : places) {
      if (!known.contains(name)) {
        findings.push_back({place.path, place.line, "step", name + " is no step of the list"});
      }
    }
  }
  return findings;
}

Findings mutants_are_used(const SourceTree& tree) {
  static const std::regex kUsed(R"(\bMutant::(\w+))");
  const SourceFile* list = find(tree, "core/base/mutant.hpp");
  if (list == nullptr) return {};
  Findings findings;
  auto used = mentions(tree, *list, kUsed, false);
  for (const Name& mutant : list_entries(*list)) {
    if (used[mutant.name].empty()) {
      findings.push_back({list->path, mutant.line, "mutant", mutant.name + " breaks nothing"});
    }
  }
  return findings;
}

}  // namespace morula::tidy
