// Answers are found whole, however the bytes arrive.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "bench/load/http_scanner.hpp"

namespace morula::load {
namespace {

struct Sample {
  std::string bytes;
  int status;
};

/// The statuses that a scanner finds when `bytes` come in pieces of the given sizes, in turn.
std::vector<int> statuses(ReplyScanner& scanner, const std::string& bytes,
                          const std::vector<size_t>& sizes) {
  std::vector<int> found;
  size_t turn = 0;
  for (size_t at = 0; at < bytes.size();) {
    std::string_view piece = std::string_view(bytes).substr(at, sizes[turn++ % sizes.size()]);
    at += piece.size();
    while (!piece.empty()) {
      std::optional<Reply> reply;
      piece.remove_prefix(scanner.take(piece, reply));
      if (reply) found.push_back(reply->status);
    }
  }
  return found;
}

const std::vector<Sample> kHttp = {
    {"HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n", 204},
    {"HTTP/1.1 200 OK\r\ncontent-LENGTH:  5\r\nX: y\r\n\r\nhello", 200},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200},
    {"HTTP/1.1 503 Busy\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n", 503},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
     "chunked\r\n\r\n5\r\nhello\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
     200},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", 200},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", 201},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304},
};
const std::vector<Sample> kRedis = {
    {"+OK\r\n", 200},
    {":17\r\n", 200},
    {"$15\r\n1526919030474-5\r\n", 200},
    {"$-1\r\n", 200},
    {"-ERR no\r\n", 500},
    {"*0\r\n", 200},
    {"*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nd\r\n$4\r\n\r\n\r\n\r\n*1\r\n$1\r\nx\r\n", 200},
};
const std::vector<Sample> kNats = {
    {"MSG _INBOX.a 1 24\r\n{\"stream\":\"LOAD\",\"seq\":1}\r\n", 200},
    {"PING\r\nMSG _INBOX.a 1 21\r\n{\"error\":{\"code\":503}}\r\n", 500},
    {"INFO {\"version\":\"2\"}\r\nPONG\r\n", 200},
    {"-ERR 'no'\r\n", 500},
};

void check_any_split(const std::vector<Sample>& samples, ReplyScanner& scanner) {
  const auto picked = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, samples.size())));
  const auto sizes =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 60)));
  std::string bytes;
  std::vector<int> wanted;
  for (const size_t i : picked) {
    bytes += samples[i].bytes;
    wanted.push_back(samples[i].status);
  }
  RC_ASSERT(statuses(scanner, bytes, sizes) == wanted);
}

RC_GTEST_PROP(HttpScanner, FindsEachAnswerInAnySplit, ()) {
  HttpScanner scanner;
  check_any_split(kHttp, scanner);
}

RC_GTEST_PROP(RedisScanner, FindsEachAnswerInAnySplit, ()) {
  check_any_split(kRedis, *redis_protocol({})->scanner());
}

RC_GTEST_PROP(NatsScanner, FindsEachAnswerInAnySplit, ()) {
  check_any_split(kNats, *nats_protocol({})->scanner());
}

TEST(HttpScanner, GivesUpOnWhatIsNoHttp) {
  HttpScanner scanner;
  std::optional<Reply> reply;
  scanner.take("SSH-2.0-OpenSSH\r\n\r\n", reply);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 0);
  EXPECT_TRUE(reply->closes);
}

TEST(HttpScanner, KeepsTheBeginningOfAFailure) {
  HttpScanner scanner;
  std::optional<Reply> reply;
  scanner.take("HTTP/1.1 409 Conflict\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwhy?",
               reply);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->text, "why?");
  EXPECT_TRUE(reply->closes);
}

TEST(NatsScanner, OwesAPongForEachPing) {
  const auto scanner = nats_protocol({})->scanner();
  std::optional<Reply> reply;
  scanner->take("PING\r\n", reply);
  EXPECT_FALSE(reply.has_value());
  EXPECT_EQ(scanner->owed(), "PONG\r\n");
  EXPECT_EQ(scanner->owed(), "");
}

}  // namespace
}  // namespace morula::load
