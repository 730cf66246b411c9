// Which server is asked, and where.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula::load {

enum class Dialect : uint8_t { kMorula, kDurableStreams, kRedis, kNats };

struct Target {
  Dialect dialect = Dialect::kMorula;
  std::string host;
  uint16_t port = 0;
  std::string prefix;  // of stream names: the path for HTTP
  sockaddr_storage address{};
  socklen_t address_length = 0;

  std::string host_and_port() const;
};

/// "http://127.0.0.1:4437/v1/stream/", "redis://host:port", "nats://host:port". `protocol` may be
/// empty: told by the scheme; or morula, durable-streams, redis, nats. Without a path, morula's
/// streams lie below /v1/stream/ and those of durable-streams below /. kInvalid, with what is
/// allowed; kUnavailable when the name can't be resolved.
Result<Target> parse_target(std::string_view url, std::string_view protocol);

}  // namespace morula::load
