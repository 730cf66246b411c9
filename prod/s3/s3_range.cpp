#include "prod/s3/s3_range.hpp"

#include <fmt/format.h>

#include <charconv>

namespace morula {
namespace {

struct ContentRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size = 0;  // of the whole object
};

/// Takes a number from the front of `text`, and `end` behind it.
bool take(std::string_view& text, uint64_t& number, std::string_view end) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(at - text.data()));
  if (!text.starts_with(end)) return false;
  text.remove_prefix(end.size());
  return true;
}

/// "bytes 3-6/10"
std::optional<ContentRange> parse_content_range(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  if (!header.starts_with(kUnit)) return std::nullopt;
  std::string_view rest = header.substr(kUnit.size());
  ContentRange range;
  if (!take(rest, range.first, "-") || !take(rest, range.last, "/") ||
      !take(rest, range.size, "")) {
    return std::nullopt;
  }
  return rest.empty() ? std::optional(range) : std::nullopt;
}

}  // namespace

std::optional<uint64_t> content_length(const HttpResponse& answer) {
  const auto header = answer.headers.find("Content-Length");
  if (!header) return std::nullopt;
  std::string_view rest = *header;
  uint64_t length = 0;
  return take(rest, length, "") && rest.empty() ? std::optional(length) : std::nullopt;
}

bool is_delimited(const HttpResponse& answer) {
  return content_length(answer) || answer.headers.contains("Transfer-Encoding");
}

Result<std::string> body_of_range(HttpResponse answer, const ByteRange& range) {
  if (!is_delimited(answer)) {
    return fail(ErrorCode::kUnavailable, "the answer does not say how long it is");
  }
  if (answer.status == 200) {  // the whole object: a store may ignore a range
    if (range.offset >= answer.body.size()) {
      if (range.offset == 0) return std::string();
      return fail(ErrorCode::kInvalid, "the range begins past the end");
    }
    return answer.body.substr(range.offset, range.length);
  }
  const std::string_view header = answer.headers.find("Content-Range").value_or("");
  const auto given = parse_content_range(header);
  const auto wrong = [&](std::string_view why) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("asked for {} bytes from {}, answered {} with {} bytes of \"{}\": {}",
                    range.length, range.offset, answer.status, answer.body.size(), header, why));
  };
  if (answer.status != 206 || !given) return wrong("no answer to a range");
  if (given->first != range.offset || given->last < given->first || given->last >= given->size) {
    return wrong("another range");
  }
  const uint64_t length = given->last - given->first + 1;
  const bool cut_at_end = given->last + 1 == given->size;
  if (length > range.length || (length < range.length && !cut_at_end))
    return wrong("another range");
  if (answer.body.size() != length) return wrong("another length");
  return std::move(answer.body);
}

}  // namespace morula
