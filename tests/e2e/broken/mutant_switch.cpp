// Makes `morula` a binary that breaks one of its rules: the one that MORULA_BREAK names, from its
// start on. An end-to-end test that doesn't notice tests nothing.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/base/mutant.hpp"

namespace morula {
namespace {

Mutant mutant_of(std::string_view wanted) {
#define MORULA_MUTANT_NAMED(name, rule) \
  if (wanted == #name) return Mutant::name;
  MORULA_MUTANT_LIST(MORULA_MUTANT_NAMED)
#undef MORULA_MUTANT_NAMED
  return Mutant::none;
}

[[maybe_unused]] const bool kSwitched = [] {
  const char* wanted = std::getenv("MORULA_BREAK");
  active_mutant = mutant_of(wanted == nullptr ? "" : wanted);
  if (active_mutant != Mutant::none) return true;
  std::fprintf(stderr, "MORULA_BREAK names no rule that can be broken\n");
  std::_Exit(2);
}();

}  // namespace
}  // namespace morula
