// A store that speaks S3, in memory, on loopback: as good or as bad as a test wants it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prod/s3/credential_cache.hpp"
#include "prod/s3/digest.hpp"
#include "prod/s3/s3_client.hpp"
#include "prod/s3/s3_store.hpp"
#include "prod/s3/uri.hpp"
#include "tests/prod/http_fixture.hpp"

namespace morula {

inline HttpResponse s3_error(int status, const std::string& code, const std::string& more = "") {
  HttpResponse answer;
  answer.status = status;
  answer.body = "<Error><Code>" + code + "</Code>" + more + "</Error>";
  return answer;
}

/// The server's side. Path style, any bucket; knows GET, HEAD, PUT, DELETE of objects, list, and
/// delete of many.
class FakeS3 {
 public:
  bool honours_if_none_match = true;
  bool honours_if_match = true;
  bool wants_quotes = true;
  bool honours_ranges = true;
  bool deletes_many = true;
  bool lists = true;
  /// Asked first; what it gives is the answer.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> before;
  std::vector<HttpRequest> requests;

  size_t count(const std::string& method) const {
    size_t n = 0;
    for (const HttpRequest& request : requests) n += request.method == method;
    return n;
  }

  HttpResponse answer(const HttpRequest& request) {
    requests.push_back(request);
    if (before) {
      if (auto given = before(request)) return std::move(*given);
    }
    const size_t question = request.target.find('?');
    const std::string path = *decode_listed(request.target.substr(0, question));
    const std::string key = path.substr(path.find('/', 1) + 1);
    if (request.method == "POST") return delete_many();
    if (question != std::string::npos) return list(request.target.substr(question + 1));
    if (request.method == "PUT") return put(key, request);
    if (request.method == "DELETE") return remove(key);
    return get(key, request);
  }

 private:
  static std::string etag_of(const std::string& body) {
    return "\"" + sha256_hex(body).substr(0, 32) + "\"";
  }
  static std::string header(const HttpRequest& request, std::string_view name) {
    const auto found = request.headers.find(name);
    return std::string(found.value_or(""));
  }

  HttpResponse put(const std::string& key, const HttpRequest& request) {
    const auto found = objects_.find(key);
    const bool exists = found != objects_.end();
    if (honours_if_none_match && exists && header(request, "If-None-Match") == "*") {
      return s3_error(412, "PreconditionFailed");
    }
    if (const std::string wanted = header(request, "If-Match");
        honours_if_match && !wanted.empty()) {
      if (!exists) return s3_error(404, "NoSuchKey");
      const std::string etag = etag_of(found->second);
      const std::string mine = wants_quotes ? etag : etag.substr(1, etag.size() - 2);
      if (wanted != mine) return s3_error(412, "PreconditionFailed");
    }
    objects_[key] = request.body;
    HttpResponse answer;
    answer.headers.add("ETag", etag_of(request.body));
    return answer;
  }

  HttpResponse get(const std::string& key, const HttpRequest& request) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return s3_error(404, "NoSuchKey");
    HttpResponse answer;
    answer.headers.add("ETag", etag_of(found->second));
    answer.body = found->second;
    size_t first = 0;
    size_t last = 0;
    if (honours_ranges &&
        std::sscanf(header(request, "Range").c_str(), "bytes=%zu-%zu", &first, &last) == 2) {
      if (first >= answer.body.size()) return s3_error(416, "InvalidRange");
      last = std::min(last, answer.body.size() - 1);
      answer.status = 206;
      answer.headers.add("Content-Range", "bytes " + std::to_string(first) + "-" +
                                              std::to_string(last) + "/" +
                                              std::to_string(answer.body.size()));
      answer.body = answer.body.substr(first, last - first + 1);
    }
    return answer;
  }

  HttpResponse remove(const std::string& key) {
    objects_.erase(key);
    HttpResponse answer;
    answer.status = 204;
    return answer;
  }

  HttpResponse list(const std::string& query) const {
    if (!lists) return s3_error(403, "AccessDenied");
    const size_t at = query.find("prefix=") + 7;
    const std::string prefix = *decode_listed(query.substr(at, query.find('&', at) - at));
    HttpResponse answer;
    answer.body = "<ListBucketResult><EncodingType>url</EncodingType>";
    for (const auto& [key, body] : objects_) {
      if (!key.starts_with(prefix)) continue;
      answer.body += "<Contents><Key>" + encode_path(key) + "</Key><Size>" +
                     std::to_string(body.size()) + "</Size></Contents>";
    }
    answer.body += "<IsTruncated>false</IsTruncated></ListBucketResult>";
    return answer;
  }

  HttpResponse delete_many() const {
    HttpResponse answer;
    if (!deletes_many) return s3_error(501, "NotImplemented");
    answer.body = "<DeleteResult></DeleteResult>";
    return answer;
  }

  std::map<std::string, std::string> objects_;
};

/// Gives out what it was told to, one after the other; the last for ever.
class ScriptedSource final : public CredentialSource {
 public:
  explicit ScriptedSource(std::deque<Result<Credentials>> script) : script_(std::move(script)) {}
  std::string_view name() const override { return "the test"; }
  Result<Credentials> fetch(Time) override {
    ++fetched;
    auto next = script_.front();
    if (script_.size() > 1) script_.pop_front();
    return next;
  }
  int fetched = 0;

 private:
  std::deque<Result<Credentials>> script_;
};

/// The loop's clock, but its wall clock is wrong.
class WrongClock final : public Clock {
 public:
  WrongClock(Loop& loop, int64_t ahead_ms) : loop_(loop), ahead_ms_(ahead_ms) {}
  Time now() const override { return loop_.now(); }
  WallTime wall() const override { return {loop_.wall().ms + ahead_ms_}; }
  TimerId arm(Time at, TimerAction action, void* argument) override {
    return loop_.arm(at, action, argument);
  }
  void disarm(TimerId timer) override { loop_.disarm(timer); }

 private:
  Loop& loop_;
  int64_t ahead_ms_;
};

/// A client and a store on a FakeS3, in a fiber.
struct S3ClientBench {
  FakeS3 server;
  std::deque<Result<Credentials>> credentials = {Credentials{"id", "secret", "", std::nullopt}};
  S3ClientConfig config;
  int64_t clock_ahead_ms = 0;  // the client's wall clock
  Loop loop;
  LogTrace trace{Severity::kError, LogFormat::kLogfmt};
  ScriptedSource* source = nullptr;

  RequestOptions within(Duration time) const {
    return {.deadline = loop.now() + time, .purpose = Purpose::kOwnership};
  }

  void run(const std::function<void(S3Store&, S3Client&)>& body) {
    loop.run_fiber("test", [&] {
      MemoryBudget memory(MemoryShares{});
      HttpServer http(loop, trace, {}, memory);
      ASSERT_TRUE(http.listen("127.0.0.1", 0));
      CurlClient curl(loop, {});
      with_scope(loop.domain(), [&](Scope& scope) {
        http.serve(scope, [&](const HttpRequest& request) { return server.answer(request); });
        with_scope(loop.domain(), [&](Scope& renewals) {
          auto scripted = std::make_unique<ScriptedSource>(credentials);
          source = scripted.get();
          CredentialCache cache(loop, renewals, trace, std::move(scripted));
          config.endpoint = *resolve_s3_endpoint("http://127.0.0.1:" + std::to_string(http.port()),
                                                 "r", "bucket", S3Addressing::kAuto);
          config.region = "us-east-1";
          WrongClock clock(loop, clock_ahead_ms);
          S3Client client(clock, trace, curl, cache, Random(1), config);
          S3Store store(client, S3Requests({"bucket", ""}, config.endpoint.path), {});
          body(store, client);
          renewals.close();
        });
        http.stop_serving();
      });
    });
  }
};

}  // namespace morula
