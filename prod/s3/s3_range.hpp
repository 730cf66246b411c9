// Answers to range requests, held against what was asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/rt/network.hpp"
#include "core/rt/store.hpp"

namespace morula {

/// nullopt when there is none, or it is no number.
std::optional<uint64_t> content_length(const HttpResponse& answer);

/// True when the end of the body is told by more than the end of the connection.
bool is_delimited(const HttpResponse& answer);

/// The bytes of `range` (not empty) in an answer of 206, or of 200 with the whole object. kInvalid:
/// it begins past the end. kUnavailable: the answer is of something else than what was asked.
Result<std::string> body_of_range(HttpResponse answer, const ByteRange& range);

}  // namespace morula
