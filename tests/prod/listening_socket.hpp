// A socket that listens on a free port of loopback, for servers that a test plays itself.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "prod/posix_file.hpp"

namespace morula {

class ListeningSocket {
 public:
  ListeningSocket() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), raw, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), raw, &length), 0);
    port_ = ntohs(address.sin_port);
  }
  uint16_t port() const { return port_; }
  UniqueFd accept() const { return UniqueFd(::accept(listener_.get(), nullptr, nullptr)); }

 private:
  UniqueFd listener_;
  uint16_t port_ = 0;
};

}  // namespace morula
