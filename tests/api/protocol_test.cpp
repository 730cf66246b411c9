// Runs the conversations of tests/api/protocol against an Api that serves everything itself.
#include <gtest/gtest.h>

#include "core/base/json.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"
#include "tests/api/fake_cell.hpp"
#include "tests/api/protocol_cases.hpp"

namespace morula {
namespace {

/// What one conversation has bound.
class Conversation {
 public:
  std::string fill_in(std::string text) const {
    for (const auto& [name, value] : bound_) {
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
        text.replace(at, name.size(), value);
      }
    }
    return text;
  }

  void hold(Api& api, const ProtocolStep& step) {
    SCOPED_TRACE("line " + std::to_string(step.line));
    HttpRequest request = step.request;
    request.target = fill_in(request.target);
    request.headers = {};
    for (const auto [name, value] : step.request.headers) {
      request.headers.add(name, fill_in(std::string(value)));
    }
    compare(step, api.handle(request));
  }

 private:
  void compare(const ProtocolStep& step, const HttpResponse& response) {
    EXPECT_EQ(response.status, step.status) << response.body;
    for (const auto& [name, wanted] : step.headers) compare_header(response, name, wanted);
    for (const std::string& name : step.absent) {
      EXPECT_FALSE(response.headers.contains(name)) << name;
    }
    EXPECT_EQ(response.body, step.body.value_or(response.body));
    if (!step.code.empty() && step.request.method != "HEAD") {
      const auto body = Json::parse(response.body);
      ASSERT_TRUE(body) << response.body;
      EXPECT_EQ(body->find("error")->string_at("code"), step.code);
      EXPECT_FALSE(body->find("error")->string_at("message")->empty());
    }
    if (step.request.method == "HEAD" || response.status == 204 || response.status == 304) {
      EXPECT_EQ(response.body, "");
    }
    EXPECT_EQ(response.headers.count("X-Content-Type-Options"), 1u);
    EXPECT_EQ(response.headers.count("Cross-Origin-Resource-Policy"), 1u);
  }

  void compare_header(const HttpResponse& response, const std::string& name,
                      const std::string& wanted) {
    const auto value = response.headers.find(name);
    ASSERT_TRUE(value) << name << " is missing";
    if (wanted == "*") return;
    if (wanted.starts_with("{") && !bound_.contains(wanted)) {
      bound_[wanted] = *value;
      return;
    }
    EXPECT_EQ(*value, fill_in(wanted)) << name;
  }

  std::map<std::string, std::string> bound_;
};

class Protocol : public testing::TestWithParam<ProtocolCase> {};

TEST_P(Protocol, Holds) {
  sim::TestWorld world;
  const bool ended = world.run([&](const Env& env) {
    FakePlacement placement;
    ApiConfig config;
    config.stream.append_bytes_max = 4096;
    config.stream.path_bytes_max = 64;
    config.stream.read_bytes_max = 100;
    config.forward_attempts_max = 2;
    placement.place = LocalShard::serve(std::make_shared<LocalShard>(env, config.stream));
    FakeCell cell;
    cell.add("i1", env.network.address());
    cell.add("i2", "http://i2.example:1");
    cell.add("i3", "http://i3.example:1", MemberState::kStopped);
    cell.own({{"root", "i1"}});
    FakeControl control(cell, "i1");
    Api api(env, test_hasher(), placement, config, &control);
    Conversation conversation;
    for (const ProtocolStep& step : GetParam().steps) {
      if (step.wait_seconds != 0) {
        env.clock.sleep(std::chrono::seconds(step.wait_seconds));
      } else {
        conversation.hold(api, step);
      }
    }
  });
  EXPECT_TRUE(ended);
}

std::string name_of(const testing::TestParamInfo<ProtocolCase>& info) {
  std::string name = info.param.file + "_";
  bool upper = true;
  for (const char c : info.param.title) {
    const bool letter = isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) name.push_back(upper ? static_cast<char>(toupper(c)) : c);
    upper = !letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conversations, Protocol, testing::ValuesIn(all_protocol_cases()), name_of);

}  // namespace
}  // namespace morula
