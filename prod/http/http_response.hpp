// Responses as bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/rt/network.hpp"

namespace morula {

/// How one response goes out.
struct ResponseFraming {
  bool to_head = false;      // the request was a HEAD: no body follows
  bool is_1_1 = true;        // the client knows chunked bodies
  bool keeps_alive = false;  // else the connection closes after it
  std::string_view date;     // as http_date gave it
};

/// Whether a body follows the head, whole or in pieces.
bool has_body(const HttpResponse& response, const ResponseFraming& framing);

/// Appends status line and headers, with the empty line. Length, connection and date are the
/// server's own: those of `response` are left out. To a HEAD, `Content-Length` is the handler's, or
/// the size of the body that it gave, or absent. A body in pieces is chunked when its length is not
/// known; for a client that doesn't know that, it ends with the connection, which must not be kept.
void append_response_head(std::string& out, const HttpResponse& response,
                          const ResponseFraming& framing);

/// "Mon, 30 Nov 2026 00:53:20 GMT"
std::string http_date(WallTime wall);

/// A response of the server itself: {"error":{"code","message"}}.
HttpResponse server_error(int status, std::string_view code, std::string_view message);

}  // namespace morula
