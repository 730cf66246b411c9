#include "prod/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace morula {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr Unit kTimeUnits[] = {
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
constexpr Unit kNoUnits[] = {{"", 1}};
constexpr Unit kByteUnits[] = {{"", 1}, {"KiB", kKiB}, {"MiB", kMiB}, {"GiB", 1024 * kMiB}};

/// A whole number and one of `units`; false for anything else, and for more than 2^63-1.
template <size_t N>
bool parse_with_unit(std::string_view text, const Unit (&units)[N], uint64_t& out) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    if (number > std::numeric_limits<int64_t>::max() / known.factor) return false;
    out = number * known.factor;
    return true;
  }
  return false;
}

/// In the largest unit that it is a whole number of.
template <size_t N>
std::string show_with_unit(uint64_t value, const Unit (&units)[N]) {
  const Unit* best = &units[0];
  for (const Unit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0) best = &unit;
  }
  return fmt::format("{}{}", value / best->factor, best->name);
}

Result<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::kInvalid, "a whole number");
  }
  return number;
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return fail(ErrorCode::kInvalid, "true or false");
}

Result<> assign(std::optional<uint64_t>& field, Result<uint64_t> parsed) {
  if (!parsed) return fail(ErrorCode::kInvalid, parsed.error().message + ", or auto");
  field = *parsed;
  return {};
}

/// `parsed`, if it lies in the range.
template <size_t N>
Result<uint64_t> within(const Option::Range& range, const Unit (&units)[N],
                        Result<uint64_t> parsed) {
  if (!parsed || (*parsed >= range.least && *parsed <= range.most)) return parsed;
  return *parsed < range.least
             ? fail(ErrorCode::kInvalid, "at least " + show_with_unit(range.least, units))
             : fail(ErrorCode::kInvalid, "at most " + show_with_unit(range.most, units));
}

template <class T, class Parsed>
Result<> assign(T& field, Parsed parsed) {
  if (!parsed) return fail(parsed.error());
  field = static_cast<T>(*parsed);
  return {};
}

template <class T>
Result<> assign_named(T& field, std::optional<T> parsed, const char* allowed) {
  if (!parsed) return fail(ErrorCode::kInvalid, allowed);
  field = *parsed;
  return {};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  uint64_t ns = 0;
  if (!parse_with_unit(text, kTimeUnits, ns)) {
    return fail(ErrorCode::kInvalid, "a time such as 250ms, 3s, 2m or 1h");
  }
  return Duration(static_cast<int64_t>(ns));
}

Result<uint64_t> parse_byte_count(std::string_view text) {
  uint64_t bytes = 0;
  if (!parse_with_unit(text, kByteUnits, bytes)) {
    return fail(ErrorCode::kInvalid, "a size such as 4096, 64KiB, 16MiB or 1GiB");
  }
  return bytes;
}

std::string Option::environment_name() const {
  std::string variable = "MORULA_";
  for (const char c : name) {
    variable.push_back(c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  }
  return variable;
}

std::string_view Option::kind() const {
  return std::visit(Overloaded{
                        [](bool*) { return ""; },
                        [](std::string*) { return "TEXT"; },
                        [](ByteCount) { return "SIZE"; },
                        [](AutoByteCount) { return "SIZE"; },
                        [](Duration*) { return "TIME"; },
                        [](Severity*) { return "LEVEL"; },
                        [](LogFormat*) { return "FORMAT"; },
                        [](auto*) { return "NUMBER"; },
                    },
                    field);
}

std::string Option::shown() const {
  return std::visit(
      Overloaded{
          [](std::string* value) { return *value; },
          // NOLINTNEXTLINE(readability-non-const-parameter): the variant's type
          [](bool* value) { return std::string(*value ? "true" : "false"); },
          [](AutoNumber* value) { return *value ? std::to_string(**value) : std::string("auto"); },
          [](ByteCount bytes) { return show_with_unit(*bytes.value, kByteUnits); },
          [](AutoByteCount bytes) {
            return *bytes.value ? show_with_unit(**bytes.value, kByteUnits) : std::string("auto");
          },
          [](Duration* value) {
            return show_with_unit(static_cast<uint64_t>(value->count()), kTimeUnits);
          },
          [](Severity* value) { return std::string(name_of(*value)); },
          [](LogFormat* value) { return std::string(name_of(*value)); },
          [](auto* value) { return std::to_string(*value); },
      },
      field);
}

Result<> Option::set(std::string_view text) const {
  const Result<> outcome = std::visit(
      Overloaded{
          [&](std::string* value) -> Result<> {
            *value = text;
            return {};
          },
          [&](bool* value) { return assign(*value, parse_switch(text)); },
          [&](AutoNumber* value) -> Result<> {
            if (text != "auto") return assign(*value, parse_number(text));
            value->reset();
            return {};
          },
          [&](ByteCount bytes) {
            return assign(*bytes.value, within(range, kByteUnits, parse_byte_count(text)));
          },
          [&](AutoByteCount bytes) -> Result<> {
            if (text != "auto") return assign(*bytes.value, parse_byte_count(text));
            bytes.value->reset();
            return {};
          },
          [&](Duration* value) { return assign(*value, parse_duration(text)); },
          [&](Severity* value) {
            return assign_named(*value, parse_severity(text), "debug, info, warning or error");
          },
          [&](LogFormat* value) {
            return assign_named(*value, parse_log_format(text), "logfmt or json");
          },
          [&](auto* value) { return assign(*value, within(range, kNoUnits, parse_number(text))); },
      },
      field);
  if (outcome) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{}: \"{}\" is not {}", name, text, outcome.error().message));
}

Result<> apply_config_text(std::string_view text, const std::vector<Option>& table) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorCode::kInvalid, fmt::format("line {}: not `name = value`", number));
    }
    const std::string_view name = trimmed(line.substr(0, equals));
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    const auto option = std::find_if(table.begin(), table.end(),
                                     [&](const Option& known) { return known.name == name; });
    if (option == table.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("line {}: no option \"{}\"", number, name));
    }
    if (const auto set = option->set(value); !set) {
      return fail(ErrorCode::kInvalid, fmt::format("line {}: {}", number, set.error().message));
    }
  }
  return {};
}

Result<> apply_environment(const char* (*lookup)(const char* name),
                           const std::vector<Option>& table) {
  for (const Option& option : table) {
    std::string variable = option.environment_name();
    const char* value = lookup(variable.c_str());
    if (value == nullptr && !option.other_environment_name.empty()) {
      variable = option.other_environment_name;
      value = lookup(variable.c_str());
    }
    if (value == nullptr) continue;
    if (const auto set = option.set(value); !set) {
      return fail(ErrorCode::kInvalid, variable + ": " + set.error().message);
    }
  }
  return {};
}

}  // namespace morula
