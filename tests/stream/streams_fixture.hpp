// Streams over rows in memory, and short ways to say what is asked of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "core/stream/streams.hpp"
#include "sim/world/test_world.hpp"
#include "tests/stream/memory_rows.hpp"

namespace morula {

inline const StreamHash kStream{{0x1111, 0x2222}, 0x3333};
inline constexpr std::string_view kPath = "a/b";
inline constexpr Duration kMoment = std::chrono::milliseconds(1);

inline CreateRequest create_request(std::string content_type = "text/plain",
                                    std::string_view body = {}) {
  CreateRequest request;
  request.stream = kStream;
  request.tenant = "default";
  request.path = kPath;
  request.content_type = std::move(content_type);
  request.body = body;
  return request;
}

/// The views outlive what is made of it.
inline AppendRequest append_request(std::string_view body,
                                    std::string_view content_type = "text/plain") {
  AppendRequest request;
  request.stream = kStream;
  request.content_type = content_type;
  request.body = body;
  return request;
}

inline AppendRequest append_by(const char* producer, uint64_t epoch, uint64_t seq,
                               std::string_view body) {
  AppendRequest request = append_request(body);
  request.producer = ProducerClaim{producer, epoch, seq};
  return request;
}

inline ReadRequest read_from(std::optional<Offset> offset = std::nullopt) {
  ReadRequest request;
  request.stream = kStream;
  if (offset) {
    request.from = ReadRequest::From::kOffset;
    request.offset = *offset;
  }
  return request;
}

/// Why it was refused; nullopt when it was not.
template <class Outcome>
std::optional<Refusal> refusal(const Outcome& outcome) {
  const auto* refused = std::get_if<Refused>(&outcome);
  return refused ? std::optional(refused->why) : std::nullopt;
}

template <class Outcome>
std::optional<ErrorCode> unserved(const Outcome& outcome) {
  const auto* unserved = std::get_if<Unserved>(&outcome);
  return unserved ? std::optional(unserved->error.code) : std::nullopt;
}

class StreamsTest : public testing::Test {
 protected:
  /// Runs `body` in a fiber, with streams over fresh rows.
  template <class Body>
  void run(Body body) {
    const bool ended = world_.run([&](const Env& env) {
      env_ = &env;
      MemoryRows rows(env);
      Streams streams(env, rows, limits_);
      rows_ = &rows;
      streams_ = &streams;
      with_scope(env.domain, [&](Scope& scope) {
        scope_ = &scope;
        body();
        rows.acknowledge_all();
        scope.join();
      });
    });
    ASSERT_TRUE(ended);
  }
  /// The same rows, and nothing in memory.
  void forget() {
    cold_ = std::make_unique<Streams>(*env_, *rows_, limits_);
    streams_ = cold_.get();
  }
  void moment() { env_->clock.sleep(kMoment); }

  std::string read_all() {
    const ReadOutcome outcome = streams_->read(read_from());
    const auto* answer = std::get_if<ReadAnswer>(&outcome);
    return answer ? answer->body : "no answer";
  }
  Offset tail() { return std::get<StreamInfo>(streams_->head(kStream)).tail; }

  StreamLimits limits_;
  sim::TestWorld world_;
  const Env* env_ = nullptr;
  MemoryRows* rows_ = nullptr;
  Streams* streams_ = nullptr;
  Scope* scope_ = nullptr;
  std::unique_ptr<Streams> cold_;
};

}  // namespace morula
