// HTTP calls to others: libcurl's multi interface on the loop.
//
// Deadlines and the queue are ours (curl's would count waiting as transfer, and its timers may be
// late); connections are reused; no request is sent twice behind the caller's back: where curl
// would repeat one on a fresh connection after a reused one broke, it fails instead, since the
// first may have been carried out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/network.hpp"
#include "prod/loop.hpp"

namespace morula {

struct CurlClientConfig {
  size_t transfers_max = 256;  // at once; others queue. Bodies in pieces don't count
  size_t bodies_max = 4096;    // in pieces, at once: they may last; others are kBusy
  uint64_t response_bytes_max = 64 * kMiB;
  Duration connect_timeout = std::chrono::seconds(3);
  // Shorter than our servers keep an idle connection, so that we never meet one that is closing.
  Duration connection_idle_max = std::chrono::seconds(30);
  std::string ca_file;  // certificates to trust besides those of the system, PEM; may be empty
};

class CurlClient {
 public:
  CurlClient(Loop& loop, const CurlClientConfig& config);
  /// No call may be under way, and no body in pieces be there.
  ~CurlClient();

  /// Sends `request` to `base` ("http://host:port") and suspends until the answer is there. Errors
  /// as Network::call. A body that is longer than the bound: kInvalid.
  Result<HttpResponse> call(const std::string& base, const HttpRequest& request, Time deadline) {
    return call(base, request, request.body, deadline);
  }
  /// The same with a body that the caller keeps elsewhere (`request.body` is not looked at), and
  /// kTimeout also once nothing of the answer has come for `silence`.
  Result<HttpResponse> call(const std::string& base, const HttpRequest& request,
                            std::string_view body, Time deadline,
                            Duration silence = Duration::max());
  /// As Network::call_in_pieces: while nothing is taken, curl stops reading, and TCP holds the
  /// other side back. A body that tells neither its length nor its chunks could be cut and look
  /// whole: kInvalid. A body that is dropped before its end takes its connection with it.
  Result<HttpResponse> call_in_pieces(const std::string& base, const HttpRequest& request,
                                      Time deadline, const BodyBounds& bounds);

 private:
  struct Impl;
  class Body;
  std::unique_ptr<Impl> impl_;
};

}  // namespace morula
