#include "invariants/violation.hpp"

#include <utility>

namespace morula::invariants {

std::string_view number_of(Invariant invariant) {
  switch (invariant) {
#define MORULA_INVARIANT_NUMBER(name, number, what) \
  case Invariant::name:                             \
    return number;
    MORULA_INVARIANTS(MORULA_INVARIANT_NUMBER)
#undef MORULA_INVARIANT_NUMBER
  }
  return "?";
}

std::string_view to_string(Invariant invariant) {
  switch (invariant) {
#define MORULA_INVARIANT_WHAT(name, number, what) \
  case Invariant::name:                           \
    return what;
    MORULA_INVARIANTS(MORULA_INVARIANT_WHAT)
#undef MORULA_INVARIANT_WHAT
  }
  return "?";
}

std::string time_text(Duration at) {
  int64_t us = at.count() / 1000;
  std::string fraction = std::to_string(us % 1'000'000);
  fraction.insert(0, 6 - fraction.size(), '0');
  return std::to_string(us / 1'000'000) + "." + fraction + " s";
}

std::string to_string(const Violation& violation) {
  std::string out = "invariant ";
  out.append(number_of(violation.invariant)).append(" (");
  out.append(to_string(violation.invariant)).append(") broke at ");
  out.append(time_text(violation.at)).append(": ").append(violation.message);
  return out;
}

void Violations::report(Invariant invariant, Duration at, std::string message) {
  ++count_;
  if (kept_.size() < kKept) kept_.push_back({invariant, at, std::move(message)});
}

}  // namespace morula::invariants
