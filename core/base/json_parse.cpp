// The only file that knows simdjson. On-Demand finds the structure and checks UTF-8; scalars, keys,
// depth and the end of the text are checked here, because On-Demand looks only at what it converts.
#include <simdjson.h>

#include <charconv>

#include "core/base/json.hpp"
#include "core/base/json_token.hpp"

namespace morula {

namespace {

namespace ondemand = simdjson::ondemand;

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The token that begins at `quote`. The caller knows that the string ends before the text does.
std::string_view string_token(const char* quote) {
  const char* end = quote + 1;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {quote, static_cast<size_t>(end + 1 - quote)};
}

}  // namespace

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : padded_(text), text_(padded_) {}

  Result<Json> read() {
    // Newer versions of simdjson skip a byte order mark, older ones refuse it.
    if (text_.starts_with("\xef\xbb\xbf")) return wrong("a byte order mark", text_.data());
    const std::string_view trimmed = trim(text_);
    if (trimmed.empty()) return wrong("nothing but white space", text_.data());

    ondemand::parser parser;
    ondemand::document document;
    if (const auto error = parser.iterate(padded_).get(document)) {
      return fail(ErrorCode::kCorrupt, std::string("JSON: ") + simdjson::error_message(error));
    }
    document_ = &document;
    Json json;
    if (trimmed.front() != '[' && trimmed.front() != '{') {
      MORULA_TRY(read_scalar(trimmed, json));
      return json;
    }
    MORULA_TRY(read_nested(document, trimmed.front() == '[', json, 1));
    if (place() != nullptr) return wrong("something after the value", place());
    return json;
  }

 private:
  /// The document and each value within have the same interface, but no type of their own.
  template <class Value>
  Result<> read_nested(Value& value, bool array, Json& out, int depth) {
    if (depth > Json::kDepthMax) return wrong("nested too deep", place());
    return array ? read_array(value, out, depth) : read_object(value, out, depth);
  }

  /// An element or member of a value that ends with `close`.
  Result<> read_inner(ondemand::value value, char close, Json& out, int depth) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return wrong(error);
    const bool array = type == ondemand::json_type::array;
    if (array || type == ondemand::json_type::object) {
      return read_nested(value, array, out, depth);
    }
    return read_inner_scalar(value, close, out);
  }

  /// On-Demand skips a scalar without a look at what follows it: `["a":]` would pass.
  Result<> read_inner_scalar(ondemand::value& value, char close, Json& out) {
    const std::string_view token = value.raw_json_token();
    MORULA_TRY(read_scalar(trim(token), out));
    const char* next = token.data() + token.size();
    if (*next != ',' && *next != close) return wrong("neither a comma nor the end", next);
    return {};
  }

  template <class Value>
  Result<> read_array(Value& value, Json& out, int depth) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return wrong(error);
    Json::Array elements;
    for (auto element : array) {
      ondemand::value inner;
      if (const auto error = element.get(inner)) return wrong(error);
      MORULA_TRY(read_inner(inner, ']', elements.emplace_back(), depth + 1));
    }
    out = Json(std::move(elements));
    return {};
  }

  template <class Value>
  Result<> read_object(Value& value, Json& out, int depth) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return wrong(error);
    Json::Object members;
    for (auto member : object) {
      ondemand::field field;
      if (const auto error = std::move(member).get(field)) return wrong(error);
      const std::string_view token = string_token(field.key().raw() - 1);
      auto name = unescape_json_string(token);
      if (!name) return wrong(name.error().message, token.data());
      Json read;
      MORULA_TRY(read_inner(field.value(), '}', read, depth + 1));
      members.insert_or_assign(std::move(*name), std::move(read));
    }
    out = Json(std::move(members));
    return {};
  }

  Result<> read_scalar(std::string_view token, Json& out) {
    if (token.front() == '"') {
      auto text = unescape_json_string(token);
      if (!text) return wrong(text.error().message, token.data());
      out = Json(std::move(*text));
    } else if (token == "true" || token == "false") {
      out = Json(token == "true");
    } else if (token == "null") {
      out = Json();
    } else if (is_json_number(token)) {
      read_number(token, out);
    } else {
      return wrong("neither a string, a number, true, false nor null", token.data());
    }
    return {};
  }

  static void read_number(std::string_view token, Json& out) {
    const char* end = token.data() + token.size();
    uint64_t natural = 0;
    int64_t integer = 0;
    if (const auto read = std::from_chars(token.data(), end, natural);
        read.ec == std::errc() && read.ptr == end) {
      out = Json(natural);
    } else if (const auto signed_read = std::from_chars(token.data(), end, integer);
               signed_read.ec == std::errc() && signed_read.ptr == end) {
      out = Json(integer);
    } else {
      out.value_ = Json::Decimal{std::string(token)};
    }
  }

  /// Where the walk is; null at the end of the text.
  const char* place() {
    const char* at = nullptr;
    return document_->current_location().get(at) == simdjson::SUCCESS ? at : nullptr;
  }
  tl::unexpected<Error> wrong(simdjson::error_code error) {
    return wrong(simdjson::error_message(error), place());
  }
  tl::unexpected<Error> wrong(std::string_view reason, const char* at) const {
    std::string message = "JSON";
    if (at != nullptr) message += " at byte " + std::to_string(at - text_.data());
    return fail(ErrorCode::kCorrupt, message + ": " + std::string(reason));
  }

  simdjson::padded_string padded_;
  std::string_view text_;
  ondemand::document* document_ = nullptr;
};

Result<Json> Json::parse(std::string_view text) {
  return JsonReader(text).read();
}

}  // namespace morula
