// Calls between instances, and from clients: HTTP-shaped messages.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

/// Header fields in order of arrival. Names compare without case.
class Headers {
 public:
  /// Appends a field.
  void add(std::string name, std::string value);
  /// Replaces all fields of that name by one.
  void set(std::string_view name, std::string value);
  void erase(std::string_view name);
  /// The first field of that name; null when there is none.
  const std::string* find(std::string_view name) const;
  size_t count(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query as they arrived: "/v1/stream/a%20b?offset=-1"
  Headers headers;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

class Network {
 public:
  /// Runs in a fiber of its own. Must not throw anything but Cancelled; a cancelled handler's
  /// caller gets no answer (its connection closes).
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  virtual ~Network() = default;

  /// Where others reach this process: "http://host:port".
  virtual std::string address() const = 0;

  /// Suspends until the answer is there. kTimeout: `deadline` came first (outcome unknown);
  /// kUnavailable: the connection failed after the request may have been sent (outcome unknown);
  /// kNotFound: nobody listens there, the request was certainly not carried out.
  virtual Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                                    Time deadline) = 0;

  /// From now on each arriving request runs `handler` in a child of `scope`, which must stay open
  /// until `stop_serving`. Before `serve` and after `stop_serving`, requests are refused.
  virtual void serve(Scope& scope, Handler handler) = 0;
  virtual void stop_serving() = 0;
};

}  // namespace morula
