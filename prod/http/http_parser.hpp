// One HTTP/1.x request out of bytes, with nothing in doubt: what could be read in two ways (both
// length headers, an encoding that doesn't end in chunked, two hosts) is refused, since a proxy in
// front may have read it the other way. Parsing is Boost.Beast's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/rt/network.hpp"

namespace morula {

struct HttpLimits {
  uint32_t head_bytes_max = 16 * 1024;
  uint64_t body_bytes_max = 4 * kMiB + 64 * kKiB;
};

/// Why a request is refused: what the client gets to hear.
struct HttpProblem {
  int status;
  std::string code;
  std::string message;
};

/// For one request at a time.
class HttpParser {
 public:
  explicit HttpParser(const HttpLimits& limits);
  ~HttpParser();

  /// Begins anew, with the next request.
  void reset();

  /// Takes bytes from the front of `bytes` and returns how many; the others must be offered again,
  /// together with those that follow. Takes nothing beyond the end of the request.
  size_t feed(std::string_view bytes);

  bool head_done() const;
  /// The whole request is there.
  bool done() const;
  /// Set when the request can't be accepted; the parser is of no use then.
  const std::optional<HttpProblem>& problem() const;

  /// After the head: the client keeps the connection for another request.
  bool keeps_alive() const;
  /// After the head: the client is no older than HTTP/1.1, and knows chunked bodies.
  bool is_1_1() const;
  /// After the head, with a body to come: the client waits for "100 Continue".
  bool expects_continue() const;
  /// After the head: how long the body will be, if that was said.
  std::optional<uint64_t> content_length() const;
  /// The body will be so long: takes memory for it at once.
  void make_room(size_t body_bytes);
  /// Body bytes so far.
  size_t body_bytes() const;
  /// Memory that the body takes.
  size_t body_memory() const;
  /// The method so far; empty before it is known.
  const std::string& method() const;

  /// The request, once done.
  HttpRequest take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace morula
