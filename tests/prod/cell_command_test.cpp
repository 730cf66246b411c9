#include "prod/operator/cell_command.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "prod/operator/cell_report_text.hpp"
#include "prod/posix_file.hpp"
#include "tests/prod/listening_socket.hpp"

namespace morula {
namespace {

using What = CellOptions::What;

/// Gives these answers, one a connection, and keeps what it was asked.
class CannedServer {
 public:
  explicit CannedServer(std::vector<std::pair<int, std::string>> answers) {
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const auto& [status, body] : answers) answer(status, body);
    });
  }
  ~CannedServer() { finish(); }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }
  /// First line and body of each request, once all have been answered.
  const std::vector<std::string>& asked() {
    finish();
    return asked_;
  }

 private:
  void finish() {
    if (thread_.joinable()) thread_.join();
  }
  void answer(int status, const std::string& body) {
    const UniqueFd fd = listener_.accept();
    const timeval patience{10, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    std::string request;
    char buffer[4096];
    while (!is_whole(request)) {
      const ssize_t n = ::recv(fd.get(), buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      request.append(buffer, static_cast<size_t>(n));
    }
    asked_.push_back(request.substr(0, request.find(" HTTP")) + " " +
                     request.substr(request.find("\r\n\r\n") + 4));
    const std::string response =
        "HTTP/1.1 " + std::to_string(status) +
        " X\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
        body;
    EXPECT_EQ(::send(fd.get(), response.data(), response.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(response.size()));
  }
  static bool is_whole(const std::string& request) {
    const size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = request.find("Content-Length: ");
    if (length == std::string::npos) return true;
    return request.size() >= end + 4 + std::stoul(request.substr(length + 16));
  }

  ListeningSocket listener_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

struct Ran {
  int code = 0;
  std::string out;
  std::string errors;
};
Ran run(CellOptions options, const std::string& url) {
  options.url = url;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.code = cell(options);
  ran.out = testing::internal::GetCapturedStdout();
  ran.errors = testing::internal::GetCapturedStderr();
  return ran;
}

CellOptions options_of(What what, std::string prefix = {}, std::string instance = {}) {
  CellOptions options;
  options.what = what;
  options.prefix = std::move(prefix);
  options.instance = std::move(instance);
  return options;
}

constexpr const char* kReport = R"({
  "version": 12, "asked": "east", "silent": ["west"],
  "shards": [
    {"prefix": "0", "epoch": 3, "owner": "east", "incarnation": "east-x", "live": true},
    {"prefix": "10", "epoch": 1, "owner": "west", "incarnation": "west-x", "live": true},
    {"prefix": "11", "epoch": 7, "owner": "north", "incarnation": "north-x", "live": false}],
  "members": [
    {"name": "east", "address": "http://e:1", "state": "live", "shards": 1},
    {"name": "north", "address": "http://n:1", "state": "expired", "shards": 1},
    {"name": "west", "address": "http://w:1", "state": "live", "shards": 1}],
  "moves": [{"prefix": "10", "from": "west", "to": "east"}]})";

TEST(CellCommand, ShowsThePictureAndTheTables) {
  CannedServer server({{200, kReport}});
  const Ran ran = run(options_of(What::kShow), server.url() + "/");
  EXPECT_EQ(ran.code, kCellDone) << ran.errors;
  EXPECT_EQ(ran.out, "cell at " + server.url() +
                         R"( (east), topology version 12: 3 shards, 2 of 3 instances live

hash space  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaCCCCCCCCCCCCCCCCbbbbbbbbbbbbbbbb
            |0                              |10             |11

  instance  state    shards  address
a east      live          1  http://e:1
b north     expired       1  http://n:1
c west      live          1  http://w:1

  shard          share   epoch  owner
a 0                1/2       3  east
C 10               1/4       1  west, moving to east
b 11               1/4       7  north, gone: another takes over

west does not answer: whether its shards are moving is not known
)");
  EXPECT_EQ(server.asked(), std::vector<std::string>{"GET /v1/cell "});
}

TEST(CellCommand, PictureOfManySmallShardsStaysAsWideAsItIs) {
  CellReport report;
  report.members = {{"a", "", "live", 0}, {"b", "", "live", 0}};
  for (unsigned bits = 0; bits < 128; ++bits) {
    report.shards.push_back(
        {{static_cast<uint16_t>(bits), 7}, 1, bits % 2 == 0 || bits < 64 ? "a" : "b", true, {}});
  }
  const std::string picture = picture_of(report);
  EXPECT_EQ(picture.substr(12, 64), std::string(32, 'a') + std::string(32, '*'));
  report.shards = {{{}, 1, "b", true, {}}};
  EXPECT_EQ(picture_of(report), "hash space  " + std::string(64, 'b') + "\n            |root\n");
}

TEST(CellCommand, AsksForWhatItIsTold) {
  const std::string done = R"({"changed":true,"version":5})";
  CannedServer server({{200, done}, {200, done}, {200, R"({"changed":false,"version":5})"}});
  Ran ran = run(options_of(What::kSplit, "01"), server.url());
  EXPECT_EQ(ran.code, kCellDone);
  EXPECT_EQ(ran.out, "split 01: done, topology version 5\n");
  EXPECT_EQ(run(options_of(What::kMerge, "root"), server.url()).code, kCellDone);
  ran = run(options_of(What::kMove, "1", "b"), server.url());
  EXPECT_EQ(ran.code, kCellDone) << "asked for twice";
  EXPECT_EQ(ran.out, "move 1 b: it was so already, topology version 5\n");
  EXPECT_EQ(server.asked(),
            (std::vector<std::string>{R"(POST /v1/cell/split {"prefix":"01"})",
                                      R"(POST /v1/cell/merge {"prefix":"root"})",
                                      R"(POST /v1/cell/move {"prefix":"1","to":"b"})"}));
}

TEST(CellCommand, TellsWhyItWasRefused) {
  const std::string body = R"({"error":{"code":"not_live","message":"instance b is stopped"}})";
  CannedServer server({{409, body}, {409, body}, {502, "<html>"}});
  Ran ran = run(options_of(What::kMove, "0", "b"), server.url());
  EXPECT_EQ(ran.code, kCellRefused);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.errors, "morula: instance b is stopped (409 not_live)\n");
  CellOptions json = options_of(What::kMove, "0", "b");
  json.json = true;
  ran = run(json, server.url());
  EXPECT_EQ(ran.code, kCellRefused);
  EXPECT_EQ(ran.out, body);
  EXPECT_EQ(run(options_of(What::kShow), server.url()).code, kCellRefused);
}

TEST(CellCommand, DrainsUntilItGetsNoFurther) {
  CannedServer server({{503,
                        R"({"changed":true,"version":4,"moved":[{"prefix":"00","to":"b"}],
                            "left":[{"prefix":"01","why":"no time"}],
                            "error":{"code":"drain_incomplete","message":"1 left"}})"},
                       {200,
                        R"({"changed":true,"version":5,
                            "moved":[{"prefix":"01","to":"c"}],"left":[]})"},
                       {503,
                        R"({"changed":false,"version":5,"moved":[],
                            "left":[{"prefix":"1","why":"frozen"}],
                            "error":{"code":"drain_incomplete","message":"1 left"}})"}});
  Ran ran = run(options_of(What::kDrain, "", "a"), server.url());
  EXPECT_EQ(ran.code, kCellDone);
  EXPECT_EQ(ran.out,
            "shard 00 moved to b\nshard 01 is still there: no time\nshard 01 moved to c\n"
            "drain a: done, topology version 5\n");
  ran = run(options_of(What::kDrain, "", "a"), server.url());
  EXPECT_EQ(ran.code, kCellRefused);
  EXPECT_EQ(ran.out, "shard 1 is still there: frozen\n");
  EXPECT_EQ(server.asked().size(), 3u);
}

TEST(CellCommand, BalancesByASingleWord) {
  CannedServer server({{200,
                        R"({"changed":true,"version":7,
                            "moved":[{"prefix":"01","to":"c"}],"left":[]})"}});
  const Ran ran = run(options_of(What::kBalance), server.url());
  EXPECT_EQ(ran.code, kCellDone);
  EXPECT_EQ(ran.out, "shard 01 moved to c\nbalance: done, topology version 7\n");
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST(CellCommand, WrongUsageAsksNobody) {
  const std::string url = "http://127.0.0.1:1";
  EXPECT_EQ(run(options_of(What::kSplit, "012"), url).code, kCellUsage);
  EXPECT_EQ(run(options_of(What::kSplit, ""), url).code, kCellUsage);
  EXPECT_EQ(run(options_of(What::kMove, "0", "B"), url).code, kCellUsage);
  EXPECT_EQ(run(options_of(What::kDrain, "", ""), url).code, kCellUsage);
  EXPECT_EQ(run(options_of(What::kShow), "127.0.0.1:1").code, kCellUsage);
  const Ran nobody = run(options_of(What::kShow), url);
  EXPECT_EQ(nobody.code, kCellRefused);
  EXPECT_NE(nobody.errors.find(url), std::string::npos);
}

TEST(CellCommand, AReportThatIsNoneIsNotShown) {
  for (const char* body : {"", "[]", R"({"version":1})", R"({"version":1,"asked":"a","shards":[{}],
       "members":[],"moves":[],"silent":[]})"}) {
    EXPECT_FALSE(parse_cell_report(body)) << body;
  }
  CannedServer server({{200, "{}"}});
  EXPECT_EQ(run(options_of(What::kShow), server.url()).code, kCellRefused);
}

TEST(CellCommand, AsksTheAddressThatServeListensOn) {
  EXPECT_EQ(CellOptions().url, "http://127.0.0.1:4437");
}

}  // namespace
}  // namespace morula
