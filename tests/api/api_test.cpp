// What an instance answers when it can't simply serve.
#include "core/api/api.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/check.hpp"
#include "core/base/json.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"

namespace morula {
namespace {

HttpRequest request(std::string method, std::string target, std::string body = {}) {
  HttpRequest made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.body = std::move(body);
  made.headers.set("Content-Type", "text/plain");
  return made;
}

std::string code_of(const HttpResponse& response) {
  const auto body = Json::parse(response.body);
  return body && body->find("error") ? body->find("error")->string_at("code").value_or("?") : "";
}

class ApiTest : public testing::Test {
 protected:
  template <class Body>
  void run(Body body) {
    const bool ended = world_.run([&](const Env& env) {
      env_ = &env;
      shard_ = std::make_shared<LocalShard>(env);
      placement_.place = LocalShard::serve(shard_);
      Api api(env, test_hasher(), placement_, config_);
      api_ = &api;
      with_scope(env.domain, [&](Scope& scope) {
        scope_ = &scope;
        body();
        scope.join();
      });
      placement_.place = ServedUnknown{};
      shard_.reset();
    });
    EXPECT_TRUE(ended);
  }
  HttpResponse ask(const HttpRequest& what) { return api_->handle(what); }

  sim::TestWorld world_;
  ApiConfig config_;
  FakePlacement placement_;
  std::shared_ptr<LocalShard> shard_;
  const Env* env_ = nullptr;
  Api* api_ = nullptr;
  Scope* scope_ = nullptr;
};

TEST_F(ApiTest, ABodyOverTheLimitIsRefusedBeforeAnythingElse) {
  run([&] {
    ask(request("PUT", "/v1/stream/a"));
    const std::string largest(config_.stream.append_bytes_max, 'x');
    EXPECT_EQ(ask(request("POST", "/v1/stream/a", largest)).status, 204);
    const HttpResponse refused = ask(request("POST", "/v1/stream/a", largest + "x"));
    EXPECT_EQ(refused.status, 413);
    EXPECT_EQ(code_of(refused), "too_large");
    EXPECT_EQ(ask(request("PUT", "/v1/stream/b", largest + "x")).status, 413);
    EXPECT_EQ(ask(request("GET", "/v1/stream/b")).status, 404);
  });
}

TEST_F(ApiTest, IsReadyWhileEveryShardHasAnOwner) {
  run([&] {
    EXPECT_EQ(ask(request("GET", "/readyz")).status, 200);
    placement_.is_ready = false;
    const HttpResponse response = ask(request("GET", "/readyz"));
    EXPECT_EQ(response.status, 503);
    EXPECT_TRUE(response.headers.contains("Retry-After"));
    EXPECT_EQ(ask(request("GET", "/healthz")).status, 200);
  });
}

TEST_F(ApiTest, LooksAgainWhenTheStreamIsNotServedHereAnyMore) {
  run([&] {
    ask(request("PUT", "/v1/stream/a", "x"));
    shard_->rows.lease = false;
    placement_.after_refreshes.push_back(placement_.place);
    scope_->spawn("lease", [&] {
      env_->clock.sleep(std::chrono::milliseconds(60));
      shard_->rows.lease = true;
    });
    const HttpResponse response = ask(request("GET", "/v1/stream/a"));
    EXPECT_EQ(response.body, "x");
    EXPECT_EQ(placement_.refreshes, 2u);
  });
}

TEST_F(ApiTest, SaysMovingWhenNobodyServesTheStream) {
  run([&] {
    placement_.place = ServedUnknown{};
    for (const char* method : {"GET", "HEAD", "PUT", "POST", "DELETE"}) {
      placement_.refreshes = 0;
      const HttpResponse response = ask(request(method, "/v1/stream/a", "x"));
      EXPECT_EQ(response.status, 503) << method;
      EXPECT_EQ(code_of(response), response.body.empty() ? "" : "moving") << method;
      EXPECT_EQ(*response.headers.find("Retry-After"), "1");
      EXPECT_EQ(placement_.refreshes, config_.forward_attempts_max - 1) << method;
    }
  });
}

TEST_F(ApiTest, AWriteThatWasAppliedButNotConfirmedHasAnUnknownOutcome) {
  run([&] {
    ask(request("PUT", "/v1/stream/a"));
    shard_->rows.acknowledge_at_once = false;
    scope_->spawn("fence", [&] {
      env_->clock.sleep(std::chrono::milliseconds(1));
      shard_->rows.fence();
    });
    const HttpResponse response = ask(request("POST", "/v1/stream/a", "x"));
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(code_of(response), "outcome_unknown");
    EXPECT_TRUE(response.headers.contains("Retry-After"));
    EXPECT_EQ(placement_.refreshes, 0u) << "only the client knows whether to repeat it";
    EXPECT_EQ(shard_->rows.log().size(), 2u);
    EXPECT_EQ(code_of(ask(request("POST", "/v1/stream/a", "y"))), "moving");
    EXPECT_EQ(shard_->rows.log().size(), 2u);
  });
}

struct StoreFailure {
  Error error;
  int status;
  const char* code;
  const char* retry_after;
};

TEST_F(ApiTest, TellsWhatKeptItFromServing) {
  run([&] {
    for (const StoreFailure& failure : {
             StoreFailure{{ErrorCode::kUnavailable, "x"}, 503, "store_unavailable", "1"},
             StoreFailure{{ErrorCode::kTimeout, "x"}, 503, "store_unavailable", "1"},
             StoreFailure{{ErrorCode::kThrottled, "x", 2500}, 503, "store_unavailable", "3"},
             StoreFailure{{ErrorCode::kDenied, "x"}, 503, "store_unavailable", "1"},
             StoreFailure{{ErrorCode::kFull, "x"}, 503, "store_unavailable", "1"},
             StoreFailure{{ErrorCode::kBusy, "x", 1000}, 503, "append_memory_busy", "1"},
             StoreFailure{{ErrorCode::kCorrupt, "x"}, 500, "damaged", nullptr},
             StoreFailure{{ErrorCode::kNotFound, "x"}, 500, "damaged", nullptr},
         }) {
      shard_->rows.fail_next = failure.error;
      const HttpResponse response = ask(request("POST", "/v1/stream/a", "x"));
      EXPECT_EQ(response.status, failure.status);
      EXPECT_EQ(code_of(response), failure.code);
      const auto retry_after = response.headers.find("Retry-After");
      EXPECT_EQ(retry_after.value_or("none"), failure.retry_after ? failure.retry_after : "none");
    }
    shard_->rows.fail_next = Error{ErrorCode::kBusy, "x"};
    EXPECT_EQ(code_of(ask(request("GET", "/v1/stream/b"))), "read_memory_busy");
  });
}

std::string any_text() {
  return *rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                         rc::gen::element<std::string>("", "0", "1", "-1", "now", "p", "text/plain",
                                                       "application/json", "2030-01-01T00:00:00Z",
                                                       "0000000000000001_0000000000000001", "*"));
}

RC_GTEST_PROP(ApiProperty, AnswersEveryRequestWhateverIsInIt, ()) {
  std::vector<HttpRequest> requests(*rc::gen::inRange<size_t>(1, 20));
  for (HttpRequest& made : requests) {
    made.method = *rc::gen::element<std::string>("GET", "HEAD", "PUT", "POST", "DELETE", "X");
    made.target = *rc::gen::element<std::string>("/v1/stream/a", "/v1/stream/b", "/healthz", "/");
    if (*rc::gen::inRange(0, 4) == 0) made.target += any_text();
    if (*rc::gen::inRange(0, 2) == 0) {
      made.target += *rc::gen::element<std::string>("?offset=", "?cursor=", "?live=") + any_text();
    }
    made.headers.set("Content-Type",
                     *rc::gen::element<std::string>("text/plain", "application/json"));
    for (const char* name :
         {"Content-Type", "Producer-Id", "Producer-Epoch", "Producer-Seq", "Stream-Seq",
          "Stream-Expected-Offset", "Stream-TTL", "Stream-Expires-At", "If-None-Match",
          "Morula-Tenant", "Streams-Hops", "Streams-Pin", "Host"}) {
      if (*rc::gen::inRange(0, 12) == 0) made.headers.add(name, any_text());
    }
    made.body = *rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                                rc::gen::element<std::string>("[1,2]", "{}", "x", ""));
  }
  sim::TestWorld world;
  const bool ended = world.run([&](const Env& env) {
    FakePlacement placement;
    placement.place = LocalShard::serve(std::make_shared<LocalShard>(env));
    Api api(env, test_hasher(), placement, {});
    for (const HttpRequest& made : requests) {
      const HttpResponse response = api.handle(made);
      MORULA_CHECK(response.status >= 200 && response.status < 504);
      MORULA_CHECK(response.status != 500);
      if (response.status >= 400 && made.method != "HEAD") MORULA_CHECK(!code_of(response).empty());
      for (const auto [name, value] : response.headers) {
        MORULA_CHECK(value.find_first_of("\r\n") == std::string::npos, "one header is one line");
      }
    }
  });
  RC_ASSERT(ended);
}

}  // namespace
}  // namespace morula
