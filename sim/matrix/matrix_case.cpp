#include "sim/matrix/matrix_case.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace morula::sim {

namespace {

constexpr Step kEndingSteps[] = {
#define MORULA_OPERATION_STEP(name, step, who) Step::k##step,
    MORULA_OPERATIONS(MORULA_OPERATION_STEP)
#undef MORULA_OPERATION_STEP
};

constexpr std::string_view kMeets = "meets_";
constexpr std::string_view kRequest = "request:";
constexpr std::string_view kSwitch = "switch:";

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

template <class Enum, class Names>
Result<Enum> find(std::string_view what, std::string_view name, const Names& names) {
  const auto found = std::ranges::find(names, name);
  if (found == std::end(names)) {
    return fail(ErrorCode::kInvalid,
                "\"" + std::string(name) + "\" is no " + std::string(what) + ": " + listed(names));
  }
  return static_cast<Enum>(found - std::begin(names));
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

Result<> read_blow(std::string_view text, MatrixCase& into) {
  if (text.starts_with(kMeets)) {
    auto meets = find<Operation>("operation", text.substr(kMeets.size()), kOperationNames);
    MORULA_TRY(meets);
    into.blow = Blow::meets;
    into.meets = *meets;
    return {};
  }
  auto blow = find<Blow>("fault", text, kBlowNames);
  MORULA_TRY(blow);
  into.blow = *blow;
  return {};
}

Result<> read_point(std::string_view text, MatrixCase& into) {
  into.kind = text.starts_with(kSwitch) ? PointKind::switches : PointKind::request;
  const std::string_view prefix = into.kind == PointKind::request ? kRequest : kSwitch;
  const auto number = text.substr(std::min(prefix.size(), text.size()));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), into.point);
  if (!text.starts_with(prefix) || error != std::errc() || end != number.data() + number.size()) {
    return fail(ErrorCode::kInvalid,
                "\"" + std::string(text) + "\" is no point: request:N or switch:N, from 1 on");
  }
  return {};
}

}  // namespace

Step ending_step(Operation operation) {
  return kEndingSteps[static_cast<size_t>(operation)];
}

std::string MatrixCase::name() const {
  std::string text(kOperationNames[static_cast<size_t>(operation)]);
  text.push_back('/');
  if (blow == Blow::meets) {
    text.append(kMeets).append(kOperationNames[static_cast<size_t>(meets)]);
  } else {
    text.append(kBlowNames[static_cast<size_t>(blow)]);
  }
  text.append("/").append(kind == PointKind::request ? kRequest : kSwitch);
  text.append(std::to_string(point));
  return text.append("/").append(kEndingNames[static_cast<size_t>(ending)]);
}

Result<MatrixCase> MatrixCase::parse(std::string_view name) {
  const auto parts = parts_of(name);
  if (parts.size() != 4) {
    return fail(ErrorCode::kInvalid, "\"" + std::string(name) +
                                         "\" is no case: operation/fault/point/recovery, as in "
                                         "split/crash/request:3/same");
  }
  MatrixCase parsed;
  auto operation = find<Operation>("operation", parts[0], kOperationNames);
  MORULA_TRY(operation);
  parsed.operation = *operation;
  MORULA_TRY(read_blow(parts[1], parsed));
  MORULA_TRY(read_point(parts[2], parsed));
  auto ending = find<Ending>("recovery", parts[3], kEndingNames);
  MORULA_TRY(ending);
  parsed.ending = *ending;
  const bool race = parsed.blow == Blow::meets;
  if (race != (*ending == Ending::unlanded || *ending == Ending::unanswered)) {
    return fail(ErrorCode::kInvalid, race ? "a race ends in unlanded or unanswered"
                                          : "a fault is followed by same or other");
  }
  if (parsed.kind == PointKind::switches && !strikes_at_switches(parsed.blow)) {
    return fail(ErrorCode::kInvalid, std::string(parts[1]) + " befalls requests alone");
  }
  return parsed;
}

}  // namespace morula::sim
