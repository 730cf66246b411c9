#include "prod/http/http_parser.hpp"

#include <fmt/format.h>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "core/base/check.hpp"

namespace morula {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

std::string to_std(string_view text) {
  return {text.data(), text.size()};
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return boost::beast::iequals(string_view(a.data(), a.size()), string_view(b.data(), b.size()));
}

/// Collects a request while Beast parses it.
class Collector final : public http::basic_parser<true> {
 public:
  HttpRequest request;
  std::optional<HttpProblem> problem;
  bool expects_continue = false;
  bool is_1_1 = false;

 private:
  void on_request_impl(http::verb, string_view method, string_view target, int version,
                       error_code& error) override {
    request.method = to_std(method);
    request.target = to_std(target);
    is_1_1 = version == 11;
    take_origin_form(error);
  }

  // A proxy's form, "http://host/path", asks for the path.
  void take_origin_form(error_code& error) {
    std::string& target = request.target;
    if (target.starts_with('/') || target == "*") return;
    const size_t scheme = target.find("://");
    if (scheme == std::string::npos) {
      return refuse(400, "bad_request", "the request target must begin with a slash", error);
    }
    const size_t path = target.find_first_of("/?", scheme + 3);
    target = path == std::string::npos ? "/" : target.substr(path);
    if (target.front() == '?') target.insert(0, "/");
  }

  void on_field_impl(http::field field, string_view name, string_view value, error_code&) override {
    if (is_header_done()) return;  // trailers say nothing that we need
    if (field == http::field::transfer_encoding) {
      transfer_encoding_ =
          transfer_encoding_ ? *transfer_encoding_ + "," + to_std(value) : to_std(value);
    }
    if (field == http::field::host) ++hosts_;
    if (field == http::field::expect && equals_ignoring_case(to_std(value), "100-continue")) {
      expects_continue = true;
    }
    request.headers.add({name.data(), name.size()}, {value.data(), value.size()});
  }

  void on_header_impl(error_code& error) override {
    if (hosts_ > 1 || (hosts_ == 0 && is_1_1)) {
      return refuse(400, "bad_request", "a request has exactly one Host header", error);
    }
    if (!transfer_encoding_) return;
    if (!is_1_1) {
      return refuse(400, "bad_request", "Transfer-Encoding needs HTTP/1.1", error);
    }
    if (!chunked()) {
      return refuse(400, "bad_request", "Transfer-Encoding must end in chunked", error);
    }
    if (!equals_ignoring_case(*transfer_encoding_, "chunked")) {
      refuse(501, "unsupported_encoding", "Transfer-Encoding can only be chunked", error);
    }
  }

  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(string_view bytes, error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(uint64_t, string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, string_view, int, error_code&) override {}

  void refuse(int status, std::string code, std::string message, error_code& error) {
    problem = HttpProblem{status, std::move(code), std::move(message)};
    error = http::error::bad_value;
  }

  int hosts_ = 0;
  std::optional<std::string> transfer_encoding_;
};

constexpr std::string_view kLastChunk = "0\r\n\r\n";

HttpProblem problem_of(const error_code& error, const HttpLimits& limits) {
  if (error == http::error::header_limit) {
    return {
        431, "head_too_large",
        fmt::format("request line and headers may have {} bytes together", limits.head_bytes_max)};
  }
  if (error == http::error::body_limit) {
    return {413, "body_too_large",
            fmt::format("the body may have {} bytes", limits.body_bytes_max)};
  }
  return {400, "bad_request", "the request is no HTTP/1.1: " + error.message()};
}

}  // namespace

struct HttpParser::Impl {
  HttpLimits limits;
  std::optional<Collector> collector;  // always there: it can only be made anew
};

HttpParser::HttpParser(const HttpLimits& limits) : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
  reset();
}

HttpParser::~HttpParser() = default;

void HttpParser::reset() {
  Collector& collector = impl_->collector.emplace();
  collector.header_limit(impl_->limits.head_bytes_max);
  collector.body_limit(impl_->limits.body_bytes_max);
  collector.eager(true);
}

size_t HttpParser::feed(std::string_view bytes) {
  Collector& collector = *impl_->collector;
  MORULA_CHECK(!done() && !collector.problem);
  size_t taken = 0;
  // An empty line or two before a request is a habit of old clients.
  while (collector.request.method.empty() && bytes.substr(taken).starts_with("\r\n")) taken += 2;
  if (bytes.size() == taken) return taken;
  if (collector.request.method.empty() && bytes.substr(taken) == "\r") return taken;
  // Beast asserts that it is offered so many bytes when it goes on with the end of a chunked body.
  const bool in_chunks = collector.is_header_done() && collector.chunked();
  if (in_chunks && bytes.size() - taken < kLastChunk.size()) return taken;
  error_code error;
  taken +=
      collector.put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), error);
  if (error && error != http::error::need_more && !collector.problem) {
    collector.problem = problem_of(error, impl_->limits);
  }
  // What it waits for, a line of a chunk, never ends.
  const bool stuck = bytes.size() - taken > impl_->limits.head_bytes_max;
  if (stuck && !done() && !collector.problem) {
    collector.problem = HttpProblem{400, "bad_request", "a line of the chunked body is too long"};
  }
  return taken;
}

bool HttpParser::head_done() const {
  return impl_->collector->is_header_done();
}
bool HttpParser::done() const {
  return impl_->collector->is_done() && !impl_->collector->problem;
}
const std::optional<HttpProblem>& HttpParser::problem() const {
  return impl_->collector->problem;
}
bool HttpParser::keeps_alive() const {
  return impl_->collector->is_1_1 && impl_->collector->keep_alive();
}
bool HttpParser::is_1_1() const {
  return impl_->collector->is_1_1;
}
bool HttpParser::expects_continue() const {
  return impl_->collector->expects_continue;
}
std::optional<uint64_t> HttpParser::content_length() const {
  const auto length = impl_->collector->content_length();
  return length ? std::optional<uint64_t>(*length) : std::nullopt;
}
void HttpParser::make_room(size_t body_bytes) {
  impl_->collector->request.body.reserve(body_bytes);
}
size_t HttpParser::body_bytes() const {
  return impl_->collector->request.body.size();
}
size_t HttpParser::body_memory() const {
  return impl_->collector->request.body.capacity();
}
const std::string& HttpParser::method() const {
  return impl_->collector->request.method;
}

HttpRequest HttpParser::take() {
  return std::move(impl_->collector->request);
}

}  // namespace morula
