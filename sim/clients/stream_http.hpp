// The Durable Streams protocol as a client speaks it: a request of the history as an HTTP message,
// and an HTTP answer as what the history keeps of it.
#pragma once

#include <optional>
#include <string>

#include "core/rt/network.hpp"
#include "invariants/history.hpp"

namespace morula::sim {

/// What a path's stream is created with and appended to.
enum class StreamType : uint8_t { kBinary, kText, kJson };
std::string content_type(StreamType type);
/// Of the content type that an answer names; nullopt for any other.
std::optional<StreamType> parse_stream_type(std::string_view text);
inline invariants::Framing framing(StreamType type) {
  return type == StreamType::kJson ? invariants::Framing::kJson : invariants::Framing::kBytes;
}

/// The history's name for a stream is "<tenant>:<path>"; without tenant "<path>".
HttpRequest http_request(const invariants::Request& request, StreamType type);

/// What an answer, or its absence, means to a client that believes the protocol.
struct Answer {
  invariants::Response response;
  std::optional<StreamType> type;       // that the answer names
  std::optional<Duration> retry_after;  // that the server asked for
  std::string redirected_to;            // 307: nothing was done; ask there
  std::string unexpected;               // the protocol has no such answer to such a request
};
/// `result` outlives the answer, whose body is a view into it.
Answer understand(const invariants::Request& request, const Result<HttpResponse>& result);

}  // namespace morula::sim
