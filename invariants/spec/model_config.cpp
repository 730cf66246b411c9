#include "invariants/spec/model_config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/base/check.hpp"

namespace morula::spec {

/// Words, numbers, strings, and single signs; `\*` begins a comment.
class ConfigParser {
 public:
  explicit ConfigParser(std::string_view text) : text_(text) { advance(); }

  Result<ModelConfig> parse() {
    while (!word_.empty()) {
      const std::string section = take();
      if (section == "CONSTANTS") {
        MORULA_TRY(constants());
      } else if (section == "INVARIANTS") {
        while (!word_.empty() && !is_section(word_)) config_.invariants_.push_back(take());
      } else if (section == "INIT" || section == "NEXT" || section == "CHECK_DEADLOCK") {
        const std::string wanted = section == "INIT"   ? "Init"
                                   : section == "NEXT" ? "Next"
                                                       : "FALSE";
        if (take() != wanted) return wrong(std::string(section).append(" is to be ") + wanted);
      } else {
        return wrong("\"" + section + "\" is not known here");
      }
    }
    if (config_.invariants_.empty()) return wrong("it names no invariant");
    return std::move(config_);
  }

 private:
  /// Also those that are refused: a name's end is where the next section begins.
  static bool is_section(std::string_view word) {
    static constexpr auto kSections = std::to_array<std::string_view>(
        {"CONSTANTS", "CONSTANT", "INVARIANTS", "INVARIANT", "INIT", "NEXT", "SPECIFICATION",
         "CHECK_DEADLOCK", "SYMMETRY", "CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT",
         "ACTION_CONSTRAINTS", "VIEW", "PROPERTY", "PROPERTIES", "ALIAS", "POSTCONDITION"});
    return std::find(kSections.begin(), kSections.end(), word) != kSections.end();
  }
  static tl::unexpected<Error> wrong(std::string what) {
    return fail(ErrorCode::kInvalid, "model configuration: " + std::move(what));
  }

  void advance() {
    const auto is = [this](auto kind) {
      return at_ < text_.size() && kind(static_cast<unsigned char>(text_[at_])) != 0;
    };
    for (;;) {
      while (is(isspace)) ++at_;
      if (!text_.substr(at_).starts_with("\\*")) break;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
    const size_t start = at_;
    if (is(isalnum) || is([](int c) { return int{c == '_'}; })) {
      while (is(isalnum) || is([](int c) { return int{c == '_'}; })) ++at_;
    } else if (at_ < text_.size() && text_[at_] == '"') {
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
    } else if (at_ < text_.size()) {
      ++at_;
    }
    word_ = text_.substr(start, at_ - start);
  }
  std::string take() {
    std::string word(word_);
    advance();
    return word;
  }

  static std::optional<int> number(std::string_view word) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
  }

  Result<void> constants() {
    while (!word_.empty() && !is_section(word_)) {
      const std::string name = take();
      if (take() != "=") return wrong(name + " has no value");
      Result<ModelConfig::Value> value = word_ == "{" ? set(name) : single(name);
      MORULA_TRY(value);
      if (!config_.constants_.emplace(name, std::move(*value)).second) {
        return wrong(name + " is set twice");
      }
    }
    return {};
  }

  Result<ModelConfig::Value> single(const std::string& name) {
    const std::string word = take();
    if (word == "TRUE" || word == "FALSE") {
      return ModelConfig::Value{ModelConfig::Kind::kBoolean, word == "TRUE" ? 1 : 0, {}, {}};
    }
    const std::optional<int> value = number(word);
    if (!value) return wrong(name + " is not a number, a boolean or a set");
    return ModelConfig::Value{ModelConfig::Kind::kNumber, *value, {}, {}};
  }

  Result<ModelConfig::Value> set(const std::string& name) {
    ModelConfig::Value value{ModelConfig::Kind::kNumbers, 0, {}, {}};
    advance();
    while (word_ != "}") {
      const std::string word = take();
      if (const auto item = number(word)) {
        value.numbers.insert(*item);
      } else if (word.size() >= 2 && word.front() == '"' && word.back() == '"') {
        value.strings.insert(word.substr(1, word.size() - 2));
      } else {
        return wrong(name + " is a set of something that is not known here");
      }
      if (word_ == ",") {
        advance();
      } else if (word_ != "}") {
        return wrong(name + " is a set that does not end");
      }
    }
    advance();
    if (!value.strings.empty()) value.kind = ModelConfig::Kind::kStrings;
    if (!value.strings.empty() && !value.numbers.empty()) return wrong(name + " mixes kinds");
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string_view word_;
  ModelConfig config_;
};

Result<ModelConfig> ModelConfig::parse(std::string_view text) {
  return ConfigParser(text).parse();
}

const ModelConfig::Value& ModelConfig::value(std::string_view name) const {
  const auto found = constants_.find(name);
  MORULA_CHECK(found != constants_.end());
  return found->second;
}

int ModelConfig::number(std::string_view name) const {
  return value(name).number;
}
bool ModelConfig::boolean(std::string_view name) const {
  return value(name).number != 0;
}
const std::set<int>& ModelConfig::numbers(std::string_view name) const {
  return value(name).numbers;
}
const std::set<std::string>& ModelConfig::strings(std::string_view name) const {
  return value(name).strings;
}

Result<void> ModelConfig::has_exactly(const std::vector<Wanted>& wanted) const {
  for (const Wanted& constant : wanted) {
    const auto found = constants_.find(constant.name);
    const std::string name(constant.name);
    if (found == constants_.end()) return fail(ErrorCode::kInvalid, name + " is not set");
    // An empty set is one of either kind.
    const Value& value = found->second;
    const bool empty = value.kind == Kind::kNumbers && value.numbers.empty();
    if (value.kind != constant.kind && !(empty && constant.kind == Kind::kStrings)) {
      return fail(ErrorCode::kInvalid, name + " is of another kind");
    }
  }
  for (const auto& [name, value] : constants_) {
    const auto same = [&](const Wanted& constant) { return constant.name == name; };
    if (std::none_of(wanted.begin(), wanted.end(), same)) {
      return fail(ErrorCode::kInvalid, name + " is not a constant of the spec");
    }
  }
  return {};
}

}  // namespace morula::spec
