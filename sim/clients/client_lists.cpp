// How a client lists streams.
#include <iterator>
#include <set>

#include "core/api/target.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"
#include "sim/clients/client.hpp"
#include "sim/clients/list_http.hpp"

namespace morula::sim {

namespace {

using invariants::ListQuestion;

/// "tenant-0:shared/1" taken apart; the path decoded.
std::pair<std::string, std::string> names_of(std::string_view name) {
  const size_t colon = name.find(':');
  const bool has_tenant = colon != std::string_view::npos;
  auto path = percent_decode(has_tenant ? name.substr(colon + 1) : name);
  return {std::string(has_tenant ? name.substr(0, colon) : ""), path.value_or("")};
}

}  // namespace

void Client::list_something(const Env& env, const Stream& stream) {
  auto [tenant, path] = names_of(stream.path);
  ListQuestion question;
  question.tenant = std::move(tenant);
  if (!env.random.chance(1, 3)) question.prefix = path.substr(0, env.random.below(path.size() + 1));
  // The start of a path may end within a character.
  if (!is_printable_utf8(question.prefix)) question.prefix.clear();
  if (env.random.chance(1, 4)) question.after = path;
  constexpr uint64_t kLimits[] = {1, 2, 3, 5, 1000};
  question.limit = kLimits[env.random.below(std::size(kLimits))];
  list(env, std::move(question));
}

void Client::list_all(const Env& env) {
  std::set<std::string> tenants;
  for (const Stream& stream : streams_) tenants.insert(names_of(stream.path).first);
  for (const std::string& tenant : tenants) {
    ListQuestion question;
    question.tenant = tenant;
    question.limit = 1000;
    while (!list(env, question)) env.clock.sleep(std::chrono::milliseconds(100));
  }
}

bool Client::list(const Env& env, ListQuestion question) {
  question.client = number_;
  for (int page = 1;; ++page) {
    question.number = ++next_operation_;
    question.server = server_;
    const invariants::OpenListing open = observer_.begin_listing(question);
    const auto result =
        env.network.call(server_, list_request(question), env.clock.now() + habits_.timeout);
    const ListReply reply = understand_list(result);
    observer_.end_listing(open, reply.answer ? &*reply.answer : nullptr);
    ++operations_;
    if (tell_) {
      tell_("listing of \"" + question.prefix + "\" after \"" + question.after + "\": " +
            (reply.answer ? std::to_string(reply.answer->streams.size()) + " streams" : "nothing"));
    }
    if (!reply.unexpected.empty()) observer_.unexpected(reply.unexpected);
    Answer answer;
    if (reply.answer) answer.response.outcome = invariants::Outcome::kOk;
    answer.retry_after = reply.retry_after;
    heed(env, answer);
    if (!reply.answer) return false;
    env.trace.sometimes("a client paged through a listing", page > 2);
    if (!reply.answer->next) return true;
    question.after = *reply.answer->next;
  }
}

}  // namespace morula::sim
