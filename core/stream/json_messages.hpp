// Splitting a body of JSON mode into messages.
//
// A body is one JSON value. An array is one level of batching: each of its elements is a message;
// any other value is a message itself. A message keeps its bytes as they were sent, without the
// white space around it, so that what is read is what was written.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/stream/rows.hpp"

namespace morula {

/// How deep arrays and objects may nest: what the readers' parsers take.
inline constexpr size_t kJsonDepthMax = 1024;

/// Messages that own their bytes.
struct JsonMessages {
  std::string bytes;
  std::string lengths;
  uint64_t count = 0;

  Messages view() const { return {bytes, lengths, count}; }
};

/// The whole body is validated: grammar, numbers, escapes, UTF-8, nothing after the value. `[]` has
/// no messages. kInvalid, with the place and what is wrong there, when it is no JSON.
Result<JsonMessages> split_json_messages(std::string_view body);

}  // namespace morula
