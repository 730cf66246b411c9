#include "prod/http/http_parser.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <iterator>

namespace morula {
namespace {

struct Parsed {
  std::optional<HttpProblem> problem;
  std::optional<HttpRequest> request;
  std::string rest;
};

/// Feeds `bytes` in pieces of `step`.
Parsed parse(const std::string& bytes, size_t step = SIZE_MAX, const HttpLimits& limits = {}) {
  HttpParser parser(limits);
  std::string unparsed;
  for (size_t at = 0; at < bytes.size() && !parser.done() && !parser.problem();) {
    const size_t n = std::min(step, bytes.size() - at);
    unparsed.append(bytes, at, n);
    at += n;
    for (size_t taken = 1; taken > 0 && !unparsed.empty() && !parser.done() && !parser.problem();) {
      taken = parser.feed(unparsed);
      unparsed.erase(0, taken);
    }
    if (parser.done()) unparsed.append(bytes, at);
  }
  Parsed parsed;
  parsed.problem = parser.problem();
  if (parser.done()) parsed.request = parser.take();
  parsed.rest = unparsed;
  return parsed;
}

int status_of(const std::string& bytes, const HttpLimits& limits = {}) {
  const Parsed parsed = parse(bytes, SIZE_MAX, limits);
  if (parsed.problem) return parsed.problem->status;
  return parsed.request ? 200 : 0;
}

TEST(HttpParser, ChunkedBodyMayBeCutAnywhere) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string chunks :
       {"5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0\r\nTrailer: t\r\n\r\n",
        "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", "0\r\n\r\n"}) {
    const std::string bytes = head + chunks;
    const std::string body = chunks.front() == '0' ? "" : "hello";
    for (size_t cut = head.size(); cut < bytes.size(); ++cut) {
      for (size_t next = cut; next < bytes.size(); ++next) {
        HttpParser parser({});
        size_t taken = 0;
        for (const size_t end : {cut, next, bytes.size()}) {
          if (end > taken) taken += parser.feed(std::string_view(bytes).substr(taken, end - taken));
        }
        ASSERT_TRUE(parser.done()) << chunks << " cut at " << cut << " and " << next;
        EXPECT_EQ(taken, bytes.size());
        EXPECT_EQ(parser.take().body, body);
      }
    }
    for (const size_t step : {1u, 2u, 3u}) EXPECT_TRUE(parse(bytes, step).request) << step;
  }
}

TEST(HttpParser, RequestIsTakenApartHoweverItArrives) {
  const std::string bytes =
      "\r\nPOST /v1/stream/a%20b?x=1 HTTP/1.1\r\nhost: x\r\nX-Two: a\r\nx-two:  b \r\n"
      "Content-Length: 5\r\n\r\nhelloGET /next";
  for (const size_t step : {1u, 2u, 3u, 7u, 1000u}) {
    const Parsed parsed = parse(bytes, step);
    ASSERT_TRUE(parsed.request) << step;
    EXPECT_EQ(parsed.request->method, "POST");
    EXPECT_EQ(parsed.request->target, "/v1/stream/a%20b?x=1");
    EXPECT_EQ(parsed.request->body, "hello");
    EXPECT_EQ(parsed.request->headers.count("X-TWO"), 2u);
    EXPECT_EQ((*std::next(parsed.request->headers.begin(), 2)).value, "b");
    EXPECT_EQ(parsed.rest, "GET /next");
  }
}

TEST(HttpParser, ChunksAreJoinedAndTrailersIgnored) {
  const std::string bytes =
      "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\nrest";
  for (const size_t step : {1u, 5u, 1000u}) {
    const Parsed parsed = parse(bytes, step);
    ASSERT_TRUE(parsed.request) << step;
    EXPECT_EQ(parsed.request->body, "abc0123456789");
    EXPECT_FALSE(parsed.request->headers.contains("X-Trailer"));
    EXPECT_EQ(parsed.rest, "rest");
  }
}

TEST(HttpParser, AProxysFormOfTheTargetIsUnderstood) {
  EXPECT_EQ(parse("GET http://h:1/a?b HTTP/1.1\r\nHost: h\r\n\r\n").request->target, "/a?b");
  EXPECT_EQ(parse("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n").request->target, "/");
  EXPECT_EQ(parse("GET http://h?q HTTP/1.1\r\nHost: h\r\n\r\n").request->target, "/?q");
  EXPECT_EQ(status_of("GET h/a HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(status_of("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
}

TEST(HttpParser, WhatCouldBeReadInTwoWaysIsRefused) {
  const std::string post = "POST /p HTTP/1.1\r\nHost: x\r\n";
  const std::pair<const char*, int> kCases[] = {
      {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400},
      {"Content-Length: 3\r\nContent-Length: 4\r\n", 400},
      {"Content-Length: 3, 4\r\n", 400},
      {"Content-Length: -3\r\n", 400},
      {"Content-Length: +3\r\n", 400},
      {"Content-Length: 0x3\r\n", 400},
      {"Content-Length: \r\n", 400},
      {"Content-Length: 99999999999999999999\r\n", 400},
      {"Content-Length : 3\r\n", 400},
      {"Transfer-Encoding: gzip\r\n", 400},
      {"Transfer-Encoding: chunked, gzip\r\n", 400},
      {"Transfer-Encoding: xchunked\r\n", 400},
      {"Transfer-Encoding: \x0b"
       "chunked\r\n",
       400},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n", 400},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501},
      {"Host: y\r\n", 400},
  };
  for (const auto& [headers, status] : kCases) {
    EXPECT_EQ(status_of(post + headers + "\r\nabc"), status) << headers;
  }
  EXPECT_EQ(status_of("POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /p HTTP/1.1\r\n\r\n"), 400) << "no host";
}

TEST(HttpParser, WhatIsNoHttpIsRefused) {
  for (const char* bytes :
       {"\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost x\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "G T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"}) {
    EXPECT_EQ(status_of(bytes), 400) << bytes;
  }
}

TEST(HttpParser, HeadAndBodyHaveBounds) {
  HttpLimits limits;
  limits.head_bytes_max = 1000;
  limits.body_bytes_max = 100;
  const std::string head = "POST /p HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(status_of(head + "A: " + std::string(1000, 'x') + "\r\n\r\n", limits), 431);
  EXPECT_EQ(status_of("GET /" + std::string(2000, 'x'), limits), 431);
  EXPECT_EQ(status_of(head + "Content-Length: 100\r\n\r\n" + std::string(100, 'x'), limits), 200);
  EXPECT_EQ(status_of(head + "Content-Length: 101\r\n\r\n", limits), 413);
  const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "32\r\n" + std::string(50, 'x') + "\r\n33\r\n", limits), 413);
  EXPECT_EQ(status_of(chunked + "FFFFFFFFFFFFFFFF\r\n", limits), 413);
  EXPECT_EQ(status_of(chunked + "1;" + std::string(5000, 'x'), limits), 400);
  EXPECT_EQ(status_of(chunked + "0\r\nA: " + std::string(5000, 'x'), limits), 400);
}

TEST(HttpParser, TellsWhetherTheConnectionIsKeptAndAContinueExpected) {
  const auto after_head = [](const std::string& bytes) {
    auto parser = std::make_unique<HttpParser>(HttpLimits{});
    parser->feed(bytes);
    EXPECT_TRUE(parser->head_done());
    return parser;
  };
  EXPECT_TRUE(after_head("GET / HTTP/1.1\r\nHost: x\r\n\r\n")->keeps_alive());
  EXPECT_FALSE(after_head("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")->keeps_alive());
  EXPECT_FALSE(after_head("GET / HTTP/1.0\r\n\r\n")->keeps_alive());
  EXPECT_TRUE(after_head("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n"
                         "Content-Length: 3\r\n\r\n")
                  ->expects_continue());
}

RC_GTEST_PROP(HttpParser, NeverTakesMoreThanThereIsNorCrashes, (const std::string& noise)) {
  // Bytes of HTTP with noise somewhere in them.
  const std::string valid =
      "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const size_t at = *rc::gen::inRange<size_t>(0, valid.size());
  std::string bytes = valid;
  bytes.replace(at, std::min(noise.size(), bytes.size() - at), noise);
  const size_t step = *rc::gen::inRange<size_t>(1, 40);
  const Parsed parsed = parse(bytes, step);
  RC_ASSERT(!(parsed.problem && parsed.request));
  // However it is cut, the outcome is the same.
  const Parsed whole = parse(bytes);
  RC_ASSERT(parsed.request.has_value() == whole.request.has_value());
}

}  // namespace
}  // namespace morula
