// Passing one request on to another instance, and what its answer means for whoever asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/base/units.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"

namespace morula {

/// How often instances have passed a request on.
inline constexpr std::string_view kHopsHeader = "Streams-Hops";
inline constexpr std::string_view kPinHeader = "Streams-Pin";
inline constexpr std::string_view kReplayToHeader = "Streams-Replay-To";
inline constexpr std::string_view kForwardedToHeader = "Streams-Forwarded-To";
inline constexpr uint64_t kHopsMax = 3;

/// Nothing was done: nobody listens there, or what was asked for is changing hands.
struct RelayUndone {
  std::string why;
};
/// Nothing was done: somebody else is the one to ask.
struct RelaySentOn {
  std::string address;
};
/// It may have been carried out, or may still be.
struct RelayUnknown {
  std::string why;
};

/// An HttpResponse is the other's answer, with `Streams-Forwarded-To`.
using Relayed = std::variant<HttpResponse, RelayUndone, RelaySentOn, RelayUnknown>;

/// How the answer's body is to come.
struct RelayBody {
  std::optional<BodyBounds> in_pieces;  // nullopt: whole
  MemoryReservation memory;             // for the window, or for a body that fits it
};

/// Sends `request`, as it arrived here, to `address`, as one that has been passed on `hops` times.
/// Suspends until `until` at the latest, except that a body in pieces may follow then: that of a
/// success only, what decides where to ask next is read whole. Throws Cancelled.
Relayed relay(const Env& env, const std::string& address, const HttpRequest& request, uint64_t hops,
              Time until, RelayBody body = {});

/// 307: `what` is to be asked for at `address`. `target`: of the request, as it arrived.
HttpResponse redirect_response(const std::string& address, std::string_view target,
                               std::string_view what);

}  // namespace morula
