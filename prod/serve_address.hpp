// From options to addresses and names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

struct ListenAddress {
  std::string host;  // without brackets
  uint16_t port = 0;

  bool is_loopback() const;
  /// "http://host:port"
  std::string url() const;
};

/// "127.0.0.1:4437", "[::1]:4437", "localhost:4437". kInvalid otherwise.
Result<ListenAddress> parse_listen_address(std::string_view text);

/// Ok for "http://host:port"; kInvalid otherwise, naming the option.
Result<> check_instance_url(std::string_view option, std::string_view url);

/// A valid instance name made of a host's name and a port.
std::string default_instance_name(std::string_view host, uint16_t port);

}  // namespace morula
