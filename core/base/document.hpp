// JSON documents of the bucket: readable by a person, and checked like any other object.
//
// Every document carries `kind` (its magic), `format` and, at its end, `checksum`, which covers all
// bytes before it: a flipped bit in a number is found, not believed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/base/result.hpp"

namespace morula {

/// What makes a document one of ours: "morula-topology", 1.
struct DocumentFormat {
  std::string_view kind;
  uint64_t format;
};

std::string encode_document(const DocumentFormat& format, Json::Object members);

/// The document without `kind`, `format` and `checksum`. kCorrupt, saying which of them is wrong
/// and what was expected.
Result<Json> open_document(const DocumentFormat& format, std::string_view text);

/// Takes an object's members one by one and keeps the first thing that is wrong, with its path
/// ("tables[2].clip must be ..."). So a decoder reads all its fields straight down and asks once.
class MemberReader {
 public:
  explicit MemberReader(const Json& object, std::string path = {});

  std::string string(std::string_view name);
  uint64_t number(std::string_view name, uint64_t min = 0, uint64_t max = UINT64_MAX);
  bool boolean(std::string_view name);
  Json::Array array(std::string_view name);
  /// A member that is itself an object; its path for a reader of its own is `path_of(name)`.
  Json object(std::string_view name);
  /// A string member that `parse` (text -> Result) understands.
  template <class Parse>
  auto parsed(std::string_view name, Parse parse) {
    const std::string text = string(name);
    auto value = parse(text);
    using Value = typename decltype(value)::value_type;
    if (!value) {
      wrong(name, value.error().message);
      return Value();
    }
    return *std::move(value);
  }
  /// Any member, counted as known; null when absent.
  const Json* take(std::string_view name);

  void wrong(std::string_view name, std::string_view what);
  std::string path_of(std::string_view name) const;
  /// Ok when every member was known and right; else kCorrupt with the first thing that was not.
  Result<> finish() const;

 private:
  const Json& object_;
  std::string path_;
  std::string error_;
  size_t taken_ = 0;
};

}  // namespace morula
