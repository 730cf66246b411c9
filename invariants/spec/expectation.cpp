#include "invariants/spec/expectation.hpp"

#include <set>

#include "core/base/json.hpp"

namespace morula::spec {

namespace {

Result<Expectation> one(const Json& json) {
  Expectation expected;
  const auto config = json.string_at("config");
  MORULA_TRY(config);
  const auto spec = json.string_at("spec");
  MORULA_TRY(spec);
  expected.config = *config;
  expected.spec = *spec;
  expected.rule = json.string_at("rule").value_or("");
  expected.says = json.string_at("says").value_or("");
  expected.is_long = json.bool_at("long").value_or(false);
  expected.violates = json.string_at("violates").value_or("");
  const bool holds = expected.violates.empty();
  const auto size = json.u64_at(holds ? "distinct" : "trace");
  MORULA_TRY(size);
  if (!holds) {
    expected.trace = *size;
    return expected;
  }
  const auto depth = json.u64_at("depth");
  MORULA_TRY(depth);
  expected.distinct = *size;
  expected.depth = *depth;
  return expected;
}

}  // namespace

Result<std::vector<Expectation>> parse_expectations(std::string_view json) {
  const auto parsed = Json::parse(json);
  MORULA_TRY(parsed);
  const auto configs = parsed->array_at("configs");
  MORULA_TRY(configs);
  std::vector<Expectation> all;
  std::set<std::string> names;
  for (const Json& config : *configs) {
    auto expected = one(config);
    MORULA_TRY(expected);
    if (!names.insert(expected->config).second) {
      return fail(ErrorCode::kCorrupt, expected->config + " is expected twice");
    }
    all.push_back(std::move(*expected));
  }
  return all;
}

std::optional<std::string> surprise(const Expectation& expected, const Exploration& found) {
  const auto number = [](auto n) { return std::to_string(n); };
  if (found.violated != expected.violates) {
    if (!found.violated.empty()) {
      return found.violated + " is violated after " + number(found.trace_length()) + " states" +
             (expected.violates.empty() ? "" : ", not " + expected.violates);
    }
    return found.complete ? expected.violates + " is not violated" : "not all states were found";
  }
  if (!found.violated.empty()) {
    if (found.trace_length() == static_cast<int>(expected.trace)) return std::nullopt;
    return "the trace has " + number(found.trace_length()) + " states, not " +
           number(expected.trace);
  }
  if (!found.complete) return "not all states were found within the memory allowed";
  if (found.distinct != expected.distinct) {
    return number(found.distinct) + " distinct states, not " + number(expected.distinct);
  }
  if (found.depth != static_cast<int>(expected.depth)) {
    return "depth " + number(found.depth) + ", not " + number(expected.depth);
  }
  return std::nullopt;
}

}  // namespace morula::spec
