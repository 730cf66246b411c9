// JSON documents of the bucket and bodies of the API, as a tree. Parsing is simdjson's; the text is
// fully validated (scalars, escapes, trailing bytes). Not for message bodies in JSON mode, which
// are split without a tree (core/stream/json_messages.hpp).
//
// Nothing here computes with floating point: a number that is no integer of 64 bits is kept as it
// is written, so that printing it again changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"

namespace morula {

/// One JSON value. Object members keep their names sorted, so that equal values print alike.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;
  Json(bool v) : value_(v) {}                      // NOLINT(google-explicit-constructor)
  Json(uint64_t v) : value_(v) {}                  // NOLINT(google-explicit-constructor)
  Json(int64_t v);                                 // NOLINT(google-explicit-constructor)
  Json(std::string v) : value_(std::move(v)) {}    // NOLINT(google-explicit-constructor)
  Json(const char* v) : value_(std::string(v)) {}  // NOLINT(google-explicit-constructor)
  Json(Array v) : value_(std::move(v)) {}          // NOLINT(google-explicit-constructor)
  Json(Object v) : value_(std::move(v)) {}         // NOLINT(google-explicit-constructor)

  /// Arrays and objects within each other.
  static constexpr int kDepthMax = 64;

  /// kCorrupt with the reason, and the byte offset where there is one, when `text` is not one valid
  /// JSON value, is nested deeper than `kDepthMax`, or escapes half of a surrogate pair. Of members
  /// with one name the last counts.
  static Result<Json> parse(std::string_view text);
  /// Indented for people, with a newline at the end.
  std::string pretty() const;
  std::string compact() const;

  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }
  Object* as_object() { return std::get_if<Object>(&value_); }
  const bool* as_bool() const { return std::get_if<bool>(&value_); }
  /// The number, if it is an integer of 0 to 2^64-1.
  const uint64_t* as_u64() const { return std::get_if<uint64_t>(&value_); }
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }

  /// Typed members of an object: kCorrupt, naming the member, when absent or of another type.
  Result<std::string> string_at(std::string_view name) const;
  Result<uint64_t> u64_at(std::string_view name) const;
  Result<bool> bool_at(std::string_view name) const;
  Result<Array> array_at(std::string_view name) const;
  /// Null when absent, or when this is no object.
  const Json* find(std::string_view name) const;

  friend bool operator==(const Json&, const Json&) = default;

 private:
  /// A number that is no integer of 64 bits, as its text has it.
  struct Decimal {
    std::string text;
    friend bool operator==(const Decimal&, const Decimal&) = default;
  };
  friend class JsonReader;
  friend class JsonPrinter;

  // A non-negative integer is always the uint64_t alternative.
  std::variant<std::monostate, bool, uint64_t, int64_t, Decimal, std::string, Array, Object> value_;
};

/// `text` in double quotes with everything escaped that JSON wants escaped. Always valid JSON:
/// bytes that are no UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);

}  // namespace morula
