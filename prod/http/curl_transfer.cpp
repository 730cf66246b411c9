#include "prod/http/curl_transfer.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <strings.h>

#include <charconv>

#include "core/base/check.hpp"

namespace morula {
namespace {

template <class... Arguments>
void set_option(CURL* easy, CURLoption option, Arguments... arguments) {
  MORULA_CHECK(curl_easy_setopt(easy, option, arguments...) == CURLE_OK);
}

bool is_named(std::string_view name, std::string_view other) {
  return name.size() == other.size() && ::strncasecmp(name.data(), other.data(), name.size()) == 0;
}

/// Headers that are curl's to set.
bool is_curls_own(std::string_view name) {
  for (const std::string_view own :
       {"Content-Length", "Transfer-Encoding", "Connection", "Expect", "Host", "Keep-Alive", "TE",
        "Trailer", "Upgrade", "Proxy-Connection"}) {
    if (is_named(name, own)) return true;
  }
  return false;
}

size_t on_body(char* data, size_t, size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  ++transfer.pieces;
  std::string& body = transfer.response.body;
  if (transfer.in_pieces) {
    // What curl has in hand when it is paused, it keeps: part of the window as well.
    if (!body.empty() && body.size() + size + CURL_MAX_WRITE_SIZE > *transfer.window) {
      transfer.paused = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    body.append(data, size);
    transfer.changed.wake_all();
    return size;
  }
  if (body.size() + size > transfer.response_bytes_max) {
    transfer.too_long = true;
    return 0;
  }
  body.append(data, size);
  return size;
}

/// Makes room for a body of `length` at once, unless it is to come in pieces.
void expect_body(Transfer& transfer, std::string_view length) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error != std::errc() || transfer.request.method == "HEAD") return;
  transfer.has_length = true;
  if (transfer.window && bytes > *transfer.window) return;
  transfer.fits = true;
  if (bytes <= transfer.response_bytes_max) transfer.response.body.reserve(bytes);
}

/// Of "HTTP/1.1 200 OK"; 0: none.
int status_of(std::string_view line) {
  const size_t space = line.find(' ');
  int status = 0;
  if (space != std::string_view::npos) {
    std::from_chars(line.data() + space + 1, line.data() + line.size(), status);
  }
  return status;
}

/// A body that doesn't fit the window begins to come in pieces.
void end_of_head(Transfer& transfer) {
  const int status = transfer.response.status;
  const bool has_body = status >= 200 && status != 204 && status != 304;
  if (!transfer.window || transfer.fits || !has_body || transfer.request.method == "HEAD") return;
  transfer.in_pieces = true;
  transfer.changed.wake_all();
}

size_t on_header(char* data, size_t, size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  ++transfer.pieces;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty()) end_of_head(transfer);
  if (line.starts_with("HTTP/")) {  // also after an interim answer
    transfer.response.headers = Headers();
    transfer.response.status = status_of(line);
    transfer.fits = transfer.has_length = transfer.is_chunked = false;
    return size;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  const std::string_view name = line.substr(0, colon);
  if (is_named(name, kContentLength)) expect_body(transfer, value);
  if (is_named(name, "Transfer-Encoding")) transfer.is_chunked = true;
  transfer.response.headers.add(name, value);
  return size;
}

/// Curl has a connection and is about to send. The second time it would repeat the request.
int on_connected(void* context, char*, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(context);
  if (transfer.sent) return CURL_PREREQFUNC_ABORT;
  transfer.sent = true;
  return CURL_PREREQFUNC_OK;
}

HeaderList make_headers(const HttpRequest& request) {
  curl_slist* list = nullptr;
  const auto append = [&](const std::string& line) {
    list = curl_slist_append(list, line.c_str());
  };
  for (const auto [name, value] : request.headers) {
    if (is_curls_own(name)) continue;
    std::string line(name);
    line.append(value.empty() ? ";" : ": ").append(value);
    append(line);
  }
  // What curl would add by itself.
  append("Expect:");
  if (!request.headers.contains("Content-Type")) append("Content-Type:");
  if (!request.headers.contains("Accept")) append("Accept:");
  return HeaderList(list);
}

}  // namespace

static_assert(Transfer::kErrorBytes == CURL_ERROR_SIZE);

void FreeEasy::operator()(void* easy) const {
  curl_easy_cleanup(easy);
}

void FreeHeaders::operator()(curl_slist* list) const {
  curl_slist_free_all(list);
}

void prepare(CURL* easy, const std::string& base, Transfer& transfer,
             const CurlClientConfig& config) {
  const HttpRequest& request = transfer.request;
  using std::chrono::duration_cast;
  set_option(easy, CURLOPT_URL, (base + "/").c_str());
  set_option(easy, CURLOPT_REQUEST_TARGET, request.target.c_str());
  set_option(easy, CURLOPT_PATH_AS_IS, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set_option(easy, CURLOPT_PROXY, "");
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_USERAGENT, "morula");
  set_option(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(duration_cast<std::chrono::milliseconds>(config.connect_timeout).count()));
  set_option(
      easy, CURLOPT_MAXAGE_CONN,
      static_cast<long>(duration_cast<std::chrono::seconds>(config.connection_idle_max).count()));
  set_option(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set_option(easy, CURLOPT_WRITEDATA, &transfer);
  set_option(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set_option(easy, CURLOPT_HEADERDATA, &transfer);
  set_option(easy, CURLOPT_PREREQFUNCTION, &on_connected);
  set_option(easy, CURLOPT_PREREQDATA, &transfer);
  set_option(easy, CURLOPT_PRIVATE, &transfer);
  set_option(easy, CURLOPT_ERRORBUFFER, transfer.why);
  if (!config.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, config.ca_file.c_str());
  if (request.method == "HEAD") {
    set_option(easy, CURLOPT_NOBODY, 1L);
  } else if (!transfer.body.empty() || request.method == "POST" || request.method == "PUT") {
    set_option(easy, CURLOPT_POST, 1L);
    set_option(easy, CURLOPT_POSTFIELDS, transfer.body.data());
    set_option(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
  }
  set_option(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  transfer.headers = make_headers(request);
  set_option(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
}

Error error_of(int code, const Transfer& transfer, const std::string& base) {
  const std::string why = fmt::format(
      "{}: {}", base,
      transfer.why[0] != '\0' ? transfer.why : curl_easy_strerror(static_cast<CURLcode>(code)));
  if (transfer.too_long) return {ErrorCode::kInvalid, base + ": the answer is too long"};
  const bool no_address = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
  if (no_address && !transfer.sent) return {ErrorCode::kInvalid, why};
  // Nothing has left before there was a connection.
  return {transfer.sent ? ErrorCode::kUnavailable : ErrorCode::kNotFound, why};
}

}  // namespace morula
