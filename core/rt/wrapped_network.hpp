// A Network that does something of its own around each request that is served.
#pragma once

#include <string>
#include <utility>

#include "core/rt/network.hpp"

namespace morula {

class WrappedNetwork : public Network {
 public:
  /// `within` outlives it.
  explicit WrappedNetwork(Network& within) : within_(within) {}

  std::string address() const final { return within_.address(); }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) final {
    return within_.call(address, request, deadline);
  }
  Result<HttpResponse> call_in_pieces(const std::string& address, const HttpRequest& request,
                                      Time deadline, const BodyBounds& bounds) final {
    return within_.call_in_pieces(address, request, deadline, bounds);
  }
  void serve(Scope& scope, Handler handler) final {
    within_.serve(scope, [this, handle = std::move(handler)](const HttpRequest& request) {
      return answer(handle, request);
    });
  }
  void stop_serving() final { within_.stop_serving(); }

 private:
  /// In the request's fiber.
  virtual HttpResponse answer(const Handler& handle, const HttpRequest& request) = 0;

  Network& within_;
};

}  // namespace morula
