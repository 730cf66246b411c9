// The network of a client that is alone with servers it doesn't run: calls only, no serving. It can
// be told to lie now and then, as a cell would that breaks its promises, to show that the client
// finds that out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rt/network.hpp"
#include "core/rt/random.hpp"
#include "prod/http/curl_client.hpp"

namespace morula::storm {

enum class Lie : uint8_t {
  kNone,
  kLoses,    // an append is answered as done, and isn't done
  kDoubles,  // an append is done twice, and answered as done once
};
std::optional<Lie> parse_lie(std::string_view text);

class LyingNetwork final : public Network {
 public:
  LyingNetwork(CurlClient& client, Lie lie, uint64_t seed)
      : client_(client), lie_(lie), random_(seed) {}

  std::string address() const override { return "http://nowhere:0"; }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) override;
  void serve(Scope&, Handler) override {}
  void stop_serving() override {}

  uint64_t lies() const { return lies_; }

 private:
  /// What a HEAD says, as if the append had been done at that tail. Nullopt: it can't be pretended.
  std::optional<HttpResponse> pretend(const std::string& address, const HttpRequest& append,
                                      Time deadline);

  CurlClient& client_;
  const Lie lie_;
  Random random_;
  uint64_t lies_ = 0;
};

}  // namespace morula::storm
