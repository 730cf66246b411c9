#include "sim/matrix/shard_operator.hpp"

#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "core/rt/random.hpp"

namespace morula::sim {

namespace {

constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kPause = std::chrono::milliseconds(100);

}  // namespace

void ShardOperator::run(const Env& env) {
  std::string address = first_;
  while (!ask(env, address)) {
    env.clock.sleep(kPause);
    const auto& all = simulation_.addresses();
    address = all[env.random.below(all.size())];
  }
  done_ = true;
}

std::string ShardOperator::text() const {
  const HttpRequest request = step_request(step_);
  return request.target + " " + request.body;
}

bool ShardOperator::ask(const Env& env, const std::string& address) {
  const Version asked_at = answers_.latest();
  const auto answer = env.network.call(address, step_request(step_), env.clock.now() + kPatience);
  if (!answer) return false;
  SimTrace& trace = simulation_.world().trace();
  if (trace.wants_lines()) {
    trace.line("operator",
               text() + " is answered " + std::to_string(answer->status) + " " + answer->body);
  }
  if (answer->status == 200) return judge(answer->body, asked_at);
  // What can't be, and won't be by waiting.
  return answer->status == 404 || answer->status == 409;
}

bool ShardOperator::judge(const std::string& body, Version asked_at) {
  const auto answer = parse_changed(body);
  const std::string wrong =
      answer ? answers_.wrong_with(step_, *answer, asked_at) : text() + " was answered " + body;
  if (!wrong.empty()) simulation_.world().fail("16", wrong);
  return true;
}

}  // namespace morula::sim
