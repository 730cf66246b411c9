// Network over HTTP: a server for what arrives, a client for what goes out.
#pragma once

#include <string>
#include <utility>

#include "core/rt/network.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/http/http_server.hpp"

namespace morula {

class HttpNetwork final : public Network {
 public:
  /// `address`: where others reach `server`.
  HttpNetwork(HttpServer& server, CurlClient& client, std::string address)
      : server_(server), client_(client), address_(std::move(address)) {}

  std::string address() const override { return address_; }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) override {
    return client_.call(address, request, deadline);
  }
  Result<HttpResponse> call_in_pieces(const std::string& address, const HttpRequest& request,
                                      Time deadline, const BodyBounds& bounds) override {
    return client_.call_in_pieces(address, request, deadline, bounds);
  }
  void serve(Scope& scope, Handler handler) override { server_.serve(scope, std::move(handler)); }
  void stop_serving() override { server_.stop_serving(); }

 private:
  HttpServer& server_;
  CurlClient& client_;
  std::string address_;
};

}  // namespace morula
