#include "bench/load/target.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <charconv>
#include <cstring>

namespace morula::load {
namespace {

struct Known {
  std::string_view name;
  Dialect dialect;
  std::string_view scheme;
  std::string_view prefix;
};
constexpr Known kKnown[] = {
    {"morula", Dialect::kMorula, "http", "/v1/stream/"},
    {"durable-streams", Dialect::kDurableStreams, "http", "/"},
    {"redis", Dialect::kRedis, "redis", ""},
    {"nats", Dialect::kNats, "nats", ""},
};

Result<> resolve(Target& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} can't be resolved: {}", target.host, ::gai_strerror(error)));
  }
  std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
  target.address_length = found->ai_addrlen;
  ::freeaddrinfo(found);
  return {};
}

}  // namespace

std::string Target::host_and_port() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

Result<Target> parse_target(std::string_view url, std::string_view protocol) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--url {}: write one such as http://127.0.0.1:4437", url));
  }
  const std::string_view scheme = url.substr(0, scheme_end);
  std::string_view place = url.substr(scheme_end + 3);
  const Known* known = nullptr;
  for (const Known& one : kKnown) {
    if (one.scheme == scheme && (protocol.empty() || protocol == one.name)) {
      known = &one;
      break;
    }
  }
  if (known == nullptr) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("--url {} {}: http:// for morula and durable-streams, redis://, nats://", url,
                    protocol));
  }
  Target target;
  target.dialect = known->dialect;
  target.prefix = known->prefix;
  const size_t path = place.find('/');
  if (path != std::string_view::npos && path + 1 < place.size()) {
    target.prefix = place.substr(path);
    if (!target.prefix.ends_with('/')) target.prefix += '/';
  }
  place = place.substr(0, path);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos ||
      std::from_chars(place.data() + colon + 1, place.data() + place.size(), target.port).ec !=
          std::errc()) {
    return fail(ErrorCode::kInvalid, fmt::format("--url {}: the port is missing", url));
  }
  target.host = place.substr(0, colon);
  if (target.host.starts_with('[') && target.host.ends_with(']')) {
    target.host = target.host.substr(1, target.host.size() - 2);
  }
  MORULA_TRY(resolve(target));
  return target;
}

}  // namespace morula::load
