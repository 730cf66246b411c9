#include "core/api/api.hpp"

#include <algorithm>
#include <array>

#include "core/api/cell_routes.hpp"
#include "core/api/forward.hpp"
#include "core/api/header_reader.hpp"
#include "core/api/list_routes.hpp"
#include "core/api/responses.hpp"

namespace morula {

namespace {

constexpr std::string_view kDefaultTenant = "default";
constexpr uint64_t kTenantBytesMax = 64;

bool is_tenant_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_stream_method(std::string_view method) {
  constexpr std::array<std::string_view, 5> kMethods = {"GET", "HEAD", "PUT", "POST", "DELETE"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

/// Who asks, and how the request came here.
struct Asking {
  std::string_view tenant;
  uint64_t hops = 0;
  bool pinned = false;
};

Asking read_asking(HeaderReader& headers) {
  Asking asking;
  asking.tenant = headers.short_text("Morula-Tenant", kTenantBytesMax).value_or(kDefaultTenant);
  if (!std::ranges::all_of(asking.tenant, is_tenant_char)) {
    headers.reject("Morula-Tenant has letters, digits, . _ and - only");
  }
  asking.hops = headers.number(kHopsHeader).value_or(0);
  const auto pin = headers.text(kPinHeader);
  if (pin && *pin != "redirect") headers.reject("Streams-Pin is redirect or absent");
  asking.pinned = pin.has_value();
  return asking;
}

}  // namespace

Api::Api(const Env& env, const StreamHasher& hasher, Placement& placement, const ApiConfig& config,
         CellControl* cell, MemoryBudget* memory)
    : env_(env),
      hasher_(hasher),
      placement_(placement),
      config_(config),
      cell_(cell),
      memory_(memory) {}

HttpResponse Api::handle(const HttpRequest& request) {
  HttpResponse response;
  const auto target = RequestTarget::parse(request.target);
  if (!target) {
    response = error_response(400, "invalid_target", target.error().message);
  } else if (target->raw_path().starts_with(kStreamPrefix)) {
    response = handle_stream(*target, request);
  } else if (target->raw_path() == kListPath) {
    response = handle_list(*target, request);
  } else if (cell_ != nullptr && is_cell_path(target->raw_path())) {
    response = handle_cell(*target, request);
  } else {
    response = health(request, target->raw_path());
  }
  finish_response(request, response);
  return response;
}

HttpResponse Api::health(const HttpRequest& request, std::string_view path) const {
  if (path != "/healthz" && path != "/readyz") {
    return error_response(404, "not_found",
                          "there is nothing here; streams are at /v1/stream/<path>, a list of "
                          "them is at /v1/streams, and the cell itself at /v1/cell");
  }
  if (request.method != "GET" && request.method != "HEAD") return method_not_allowed("GET, HEAD");
  if (path == "/readyz" && !placement_.ready()) {
    return busy_response("not_ready", "not every shard has an owner that serves");
  }
  HttpResponse response;
  response.headers.set("Content-Type", "text/plain");
  response.headers.set("Cache-Control", "no-store");
  response.body = "ok\n";
  return response;
}

HttpResponse Api::handle_stream(const RequestTarget& target, const HttpRequest& request) {
  if (!is_stream_method(request.method)) return method_not_allowed("GET, HEAD, PUT, POST, DELETE");
  auto path = stream_path(target.raw_path(), config_.stream.path_bytes_max);
  if (!path) return error_response(400, "invalid_path", path.error().message);
  if (request.body.size() > config_.stream.append_bytes_max) {
    return error_response(413, "too_large",
                          "the body is larger than " +
                              std::to_string(config_.stream.append_bytes_max) +
                              " bytes; send it in several appends");
  }
  HeaderReader headers(request.headers);
  const Asking asking = read_asking(headers);
  if (headers.wrong()) return error_response(400, "invalid_header", *headers.wrong());
  if (asking.hops > kHopsMax) return moving_response();

  StreamTarget stream{target, asking.tenant, std::move(*path), {}};
  stream.hash = hasher_(stream.tenant, stream.path);
  return Forwarder(env_, config_, placement_, memory_, stream, request, asking.hops, asking.pinned)
      .run();
}

HttpResponse Api::handle_list(const RequestTarget& target, const HttpRequest& request) {
  HeaderReader headers(request.headers);
  const Asking asking = read_asking(headers);  // a listing has no one owner to be redirected to
  if (headers.wrong()) return error_response(400, "invalid_header", *headers.wrong());
  return Lister(env_, config_, placement_, target, asking.tenant, request, asking.hops).run();
}

HttpResponse Api::handle_cell(const RequestTarget& target, const HttpRequest& request) {
  HeaderReader headers(request.headers);
  const Asking asking = read_asking(headers);
  if (headers.wrong()) return error_response(400, "invalid_header", *headers.wrong());
  if (asking.hops > kHopsMax) return moving_response();
  return CellRoutes(env_, config_, hasher_, *cell_, target, asking.tenant, request, asking.hops)
      .run();
}

}  // namespace morula
