// simdjson's first stage finds where each token begins and checks UTF-8, closed strings and control
// characters; the grammar, the scalars and the depth are checked here, token by token, without
// recursion: a body is a stranger's, and a fiber's stack is small.
#include "core/stream/json_messages.hpp"

#include <simdjson.h>

#include <memory>
#include <vector>

#include "core/base/codec.hpp"
#include "core/base/json_token.hpp"

namespace morula {

namespace {

using Tokens = std::unique_ptr<simdjson::internal::dom_parser_implementation>;

std::string_view trim_end(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \t\n\r") + 1);
}

/// Escapes of a string that simdjson has found closed. Half of a surrogate pair is as valid as
/// JSON's grammar has it.
bool is_json_string(std::string_view token) {
  if (token.size() < 2 || token.back() != '"') return false;
  std::string_view rest = token.substr(1, token.size() - 2);
  for (size_t at = rest.find_first_of("\\\""); at != std::string_view::npos;
       at = rest.find_first_of("\\\"")) {
    if (rest[at] == '"' || at + 1 == rest.size()) return false;
    const char escape = rest[at + 1];
    size_t length = 2;
    if (escape == 'u') {
      length = 6;
      if (rest.size() < at + length) return false;
      const std::string_view digits = rest.substr(at + 2, 4);
      if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
        return false;
      }
    } else if (std::string_view("\"\\/bfnrt").find(escape) == std::string_view::npos) {
      return false;
    }
    rest.remove_prefix(at + length);
  }
  return true;
}

bool is_scalar(std::string_view token) {
  if (token.starts_with('"')) return is_json_string(token);
  return token == "true" || token == "false" || token == "null" || is_json_number(token);
}

class MessageSplitter {
 public:
  MessageSplitter(std::string_view text, const Tokens& tokens)
      : text_(text),
        starts_(tokens->structural_indexes.get()),
        count_(tokens->n_structural_indexes) {
    batched_ = count_ > 0 && text_[starts_[0]] == '[';
  }

  Result<JsonMessages> split() {
    for (size_t i = 0; i < count_; ++i) {
      const char* wrong = step(i);
      if (wrong != nullptr) return invalid(wrong, starts_[i]);
    }
    if (expected_ != Expected::kEnd) return invalid("the body ends too early", text_.size());
    if (messages_.count == 1) messages_.lengths.clear();
    return std::move(messages_);
  }

 private:
  enum class Expected : uint8_t {
    kValue,
    kValueOrClose,
    kName,
    kNameOrClose,
    kColon,
    kCommaOrClose,
    kEnd,
  };

  /// Takes token `i`; returns what is wrong with it, or null.
  const char* step(size_t i) {
    const char c = text_[starts_[i]];
    switch (expected_) {
      case Expected::kValueOrClose:
        if (c == ']') return close(i);
        return value(i, c);
      case Expected::kValue:
        return value(i, c);
      case Expected::kNameOrClose:
        if (c == '}') return close(i);
        return name(i);
      case Expected::kName:
        return name(i);
      case Expected::kColon:
        expected_ = Expected::kValue;
        return c == ':' ? nullptr : "a colon is missing";
      case Expected::kCommaOrClose:
        if (c == (open_.back() ? ']' : '}')) return close(i);
        expected_ = open_.back() ? Expected::kValue : Expected::kName;
        return c == ',' ? nullptr : "a comma or the closing bracket is missing";
      case Expected::kEnd:
        break;
    }
    return "something follows the value";
  }

  const char* value(size_t i, char c) {
    if (open_.size() == message_depth()) message_begin_ = starts_[i];
    if (c == '[' || c == '{') {
      if (open_.size() == kJsonDepthMax) return "nested deeper than 1024";
      open_.push_back(c == '[');
      expected_ = c == '[' ? Expected::kValueOrClose : Expected::kNameOrClose;
      return nullptr;
    }
    const std::string_view scalar = token(i);
    if (!is_scalar(scalar)) return "not a value";
    value_ended(starts_[i] + scalar.size());
    return nullptr;
  }

  const char* name(size_t i) {
    const std::string_view text = token(i);
    expected_ = Expected::kColon;
    return text.starts_with('"') && is_json_string(text) ? nullptr : "not a member's name";
  }

  const char* close(size_t i) {
    open_.pop_back();
    value_ended(starts_[i] + 1);
    return nullptr;
  }

  void value_ended(size_t end) {
    if (open_.size() == message_depth()) {
      messages_.bytes.append(text_.substr(message_begin_, end - message_begin_));
      Encoder(messages_.lengths).varint(end - message_begin_);
      messages_.count += 1;
    }
    expected_ = open_.empty() ? Expected::kEnd : Expected::kCommaOrClose;
  }

  /// How many brackets are open where a message begins.
  size_t message_depth() const { return batched_ ? 1 : 0; }

  std::string_view token(size_t i) const {
    const size_t end = i + 1 < count_ ? starts_[i + 1] : text_.size();
    return trim_end(text_.substr(starts_[i], end - starts_[i]));
  }

  static tl::unexpected<Error> invalid(std::string_view what, size_t at) {
    return fail(ErrorCode::kInvalid,
                "the body is not JSON: " + std::string(what) + ", at byte " + std::to_string(at));
  }

  std::string_view text_;
  const uint32_t* starts_;
  size_t count_;
  bool batched_ = false;
  Expected expected_ = Expected::kValue;
  std::vector<bool> open_;  // the brackets around the next token; true: of an array
  size_t message_begin_ = 0;
  JsonMessages messages_;
};

}  // namespace

Result<JsonMessages> split_json_messages(std::string_view body) {
  const simdjson::padded_string padded(body);
  Tokens tokens;
  constexpr size_t kUnusedDepth = 1;
  auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
      body.size() + 1, kUnusedDepth, tokens);
  if (error == simdjson::SUCCESS) {
    error = tokens->stage1(reinterpret_cast<const uint8_t*>(padded.data()), padded.size(),
                           simdjson::stage1_mode::regular);
  }
  if (error == simdjson::EMPTY) {
    return fail(ErrorCode::kInvalid, "the body is not JSON: it has nothing but white space");
  }
  if (error != simdjson::SUCCESS) {
    return fail(ErrorCode::kInvalid,
                "the body is not JSON: a string is not closed or has a control character in it, or "
                "there are bytes that are not UTF-8");
  }
  return MessageSplitter(padded, tokens).split();
}

}  // namespace morula
