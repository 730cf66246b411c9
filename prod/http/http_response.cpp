#include "prod/http/http_response.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "core/api/responses.hpp"
#include "core/base/json.hpp"

namespace morula {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};
constexpr Reason kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

std::string_view reason_of(int status) {
  const auto* found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                   [&](const Reason& reason) { return reason.status == status; });
  return found == std::end(kReasons) ? "Unknown" : found->phrase;
}

bool is_named(std::string_view name, std::string_view other) {
  return name.size() == other.size() && ::strncasecmp(name.data(), other.data(), name.size()) == 0;
}

bool is_servers_own(std::string_view name) {
  return is_named(name, "Content-Length") || is_named(name, "Connection") ||
         is_named(name, "Transfer-Encoding") || is_named(name, "Keep-Alive") ||
         is_named(name, "Date");
}

bool may_have_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

/// A line break in a value would begin another header.
void append_value(std::string& out, std::string_view value) {
  const size_t begin = out.size();
  out += value;
  for (size_t i = begin; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) out[i] = ' ';
  }
}

void append_source_framing(std::string& out, const HttpResponse& response,
                           const ResponseFraming& framing) {
  if (!may_have_body(response.status)) return;
  const auto length = response.source->length();
  if (length) {
    out += "Content-Length: " + std::to_string(*length) + "\r\n";
  } else if (framing.is_1_1) {
    out += "Transfer-Encoding: chunked\r\n";
  }
}

}  // namespace

bool has_body(const HttpResponse& response, const ResponseFraming& framing) {
  return !framing.to_head && may_have_body(response.status) &&
         (response.source != nullptr || !response.body.empty());
}

void append_response_head(std::string& out, const HttpResponse& response,
                          const ResponseFraming& framing) {
  const auto number = [&out](uint64_t value) {
    const fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
  };
  out += "HTTP/1.1 ";
  number(static_cast<uint64_t>(response.status));
  out += ' ';
  out += reason_of(response.status);
  out += "\r\nDate: ";
  out += framing.date;
  out += "\r\n";
  for (const auto [name, value] : response.headers) {
    if (is_servers_own(name)) continue;
    append_value(out, name);
    out += ": ";
    append_value(out, value);
    out += "\r\n";
  }
  const auto length = framing.to_head ? response.headers.find("Content-Length") : std::nullopt;
  if (length) {
    out += "Content-Length: ";
    append_value(out, *length);
    out += "\r\n";
  } else if (response.source) {
    append_source_framing(out, response, framing);
  } else if (may_have_body(response.status) && !(framing.to_head && response.body.empty())) {
    out += "Content-Length: ";
    number(response.body.size());
    out += "\r\n";
  }
  out += framing.keeps_alive ? "\r\n" : "Connection: close\r\n\r\n";
}

std::string http_date(WallTime wall) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(wall.ms / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

HttpResponse server_error(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-store");
  response.headers.add(kErrorHeader, code);
  if (status == 503 || status == 429) response.headers.add("Retry-After", "1");
  response.body = fmt::format("{{\"error\":{{\"code\":{},\"message\":{}}}}}\n", json_quote(code),
                              json_quote(message));
  return response;
}

}  // namespace morula
