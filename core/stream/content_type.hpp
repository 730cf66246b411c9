// Content types of streams.
//
// Two content types match when their media types do, without case; parameters say how to decode
// the bytes and are not compared. A stream answers with the text that it was created with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

inline constexpr std::string_view kDefaultContentType = "application/octet-stream";

/// The `type/subtype` in `text`, without parameters. kInvalid, saying what is allowed, when `text`
/// is no content type or is longer than `bytes_max`.
Result<std::string_view> media_type(std::string_view text, uint64_t bytes_max);
/// Whether two of them are the same, which they are without case.
bool same_media(std::string_view a, std::string_view b);

/// Streams of this media type hold JSON messages.
inline bool is_json_media(std::string_view media) {
  return same_media(media, "application/json");
}

/// A number for the content types that most streams have, so that a hot row says it all; 0 when
/// exactly this text has none.
uint8_t content_type_code(std::string_view text);
/// The text of a code; nullptr when there is no such code.
const char* content_type_of(uint8_t code);

}  // namespace morula
