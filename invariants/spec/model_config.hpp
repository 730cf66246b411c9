// A configuration of a spec: the .cfg file that TLC and tla-checker read too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace morula::spec {

class ModelConfig {
 public:
  /// Takes what our configurations consist of: CONSTANTS, INIT Init, NEXT Next, INVARIANTS,
  /// CHECK_DEADLOCK FALSE. Anything else is refused, so that nothing is left out without a word.
  static Result<ModelConfig> parse(std::string_view text);

  /// The constant of this name. Its absence is a bug of the caller's: a spec asks `has_exactly`
  /// first.
  int number(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::set<int>& numbers(std::string_view name) const;
  const std::set<std::string>& strings(std::string_view name) const;

  enum class Kind { kNumber, kBoolean, kNumbers, kStrings };
  struct Wanted {
    std::string_view name;
    Kind kind;
  };
  /// Whether it sets these constants and no others; if not, says which.
  Result<void> has_exactly(const std::vector<Wanted>& wanted) const;

  /// As listed.
  const std::vector<std::string>& invariants() const { return invariants_; }

 private:
  struct Value {
    Kind kind;
    int number = 0;  // a boolean: 0 or 1
    std::set<int> numbers;
    std::set<std::string> strings;
  };
  friend class ConfigParser;

  const Value& value(std::string_view name) const;

  std::map<std::string, Value, std::less<>> constants_;
  std::vector<std::string> invariants_;
};

}  // namespace morula::spec
