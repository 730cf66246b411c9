// One request on its way through libcurl, and its answer as it comes in. Only for CurlClient.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/rt/fiber.hpp"
#include "core/rt/network.hpp"
#include "prod/http/curl_client.hpp"

struct curl_slist;

namespace morula {

/// A handle of libcurl's, which is a void* to its users.
struct FreeEasy {
  void operator()(void* easy) const;
};
using Easy = std::unique_ptr<void, FreeEasy>;

struct FreeHeaders {
  void operator()(curl_slist* list) const;
};
using HeaderList = std::unique_ptr<curl_slist, FreeHeaders>;

inline constexpr std::string_view kContentLength = "Content-Length";

/// Refers to what it is made of; curl refers to it, until its handle is removed.
struct Transfer {
  static constexpr size_t kErrorBytes = 256;

  Transfer(const HttpRequest& r, std::string_view b, uint64_t bytes_max)
      : request(r), body(b), response_bytes_max(bytes_max) {}

  const HttpRequest& request;
  const std::string_view body;
  const uint64_t response_bytes_max;
  HeaderList headers;
  HttpResponse response;
  std::optional<int> done;  // a CURLcode
  WaitList changed;
  std::optional<uint64_t> window;  // for an answer in pieces: what is held of it, in bytes
  bool in_pieces = false;          // it is one, and its head is there
  bool has_length = false;
  bool is_chunked = false;
  bool fits = false;  // its length is known and within the window
  bool paused = false;
  bool sent = false;           // the request may have left this machine
  bool too_long = false;       // the answer
  uint64_t pieces = 0;         // of the answer so far
  char why[kErrorBytes] = {};  // curl's words for a failure
};

/// Makes `easy` carry out `transfer`.
void prepare(void* easy, const std::string& base, Transfer& transfer,
             const CurlClientConfig& config);

/// What a transfer means that ended with `code`, a CURLcode that is not CURLE_OK.
Error error_of(int code, const Transfer& transfer, const std::string& base);

}  // namespace morula
