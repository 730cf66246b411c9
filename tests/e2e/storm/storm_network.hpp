// The network of clients that are alone with servers they don't run: calls only, no serving.
//
// Some calls are hung up on before their answer is there, as by a client that is cut off: what they
// asked for may be done or not, and its retry must find out. The network can also be told to lie
// now and then, as a cell would that breaks its promises, to show that the clients notice.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rt/network.hpp"
#include "core/rt/random.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/loop.hpp"

namespace morula::storm {

enum class Lie : uint8_t {
  kNone,
  kLoses,    // an append is answered as done, and isn't done
  kDoubles,  // an append is done twice, and answered as done once
};
std::optional<Lie> parse_lie(std::string_view text);

class StormNetwork final : public Network {
 public:
  StormNetwork(Loop& loop, CurlClient& client, Lie lie, uint64_t seed)
      : loop_(loop), client_(client), lie_(lie), random_(seed) {}

  std::string address() const override { return "http://nowhere:0"; }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) override;
  void serve(Scope&, Handler) override {}
  void stop_serving() override {}

  /// From now on nobody hangs up: what is asked now is to be answered.
  void be_patient() { patient_ = true; }

  uint64_t lies() const { return lies_; }
  uint64_t hung_up() const { return hung_up_; }

 private:
  /// What a HEAD says, as if the append had been done at that tail. Nullopt: it can't be pretended.
  std::optional<HttpResponse> pretend(const std::string& address, const HttpRequest& append,
                                      Time deadline);

  /// When a call is given up.
  Time draw_deadline(Time wanted);

  Loop& loop_;
  CurlClient& client_;
  const Lie lie_;
  Random random_;
  bool patient_ = false;
  uint64_t lies_ = 0;
  uint64_t hung_up_ = 0;
};

}  // namespace morula::storm
