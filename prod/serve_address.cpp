#include "prod/serve_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "core/base/ids.hpp"

namespace morula {
namespace {

bool parse_port(std::string_view text, uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool ListenAddress::is_loopback() const {
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  in_addr v4{};
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

std::string ListenAddress::url() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("http://[{}]:{}", host, port) : fmt::format("http://{}:{}", host, port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    host = "";  // a bare IPv6 address: where does the port begin?
  }
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  in6_addr ignored{};
  const bool is_address = ::inet_pton(AF_INET, address.host.c_str(), &ignored) == 1 ||
                          ::inet_pton(AF_INET6, address.host.c_str(), &ignored) == 1;
  if (colon == std::string_view::npos || !is_address ||
      !parse_port(text.substr(colon + 1), address.port)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--listen \"{}\": write an IP address and a port, such as "
                            "127.0.0.1:4437 or [::1]:4437",
                            text));
  }
  return address;
}

Result<> check_instance_url(std::string_view option, std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const std::string_view rest = url.starts_with(kScheme) ? url.substr(kScheme.size()) : "";
  const size_t colon = rest.rfind(':');
  uint16_t port = 0;
  if (rest.empty() || colon == std::string_view::npos || colon == 0 ||
      rest.find_first_of("/?# ") != std::string_view::npos ||
      !parse_port(rest.substr(colon + 1), port) || port == 0) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} \"{}\": write http://host:port, nothing after it", option, url));
  }
  return {};
}

std::string default_instance_name(std::string_view host, uint16_t port) {
  constexpr size_t kHostMax = 48;
  std::string name;
  for (const char c : host.substr(0, host.find('.'))) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    name.push_back(is_valid_instance_name(std::string(1, lower)) ? lower : '-');
    if (name.size() == kHostMax) break;
  }
  if (name.empty()) name = "morula";
  return fmt::format("{}-{}", name, port);
}

}  // namespace morula
