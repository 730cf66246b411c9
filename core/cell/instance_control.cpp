// What an instance does when it is asked: by operators about the cell, by other instances about
// shards that they give to it.
#include <set>
#include <utility>
#include <vector>

#include "core/api/responses.hpp"
#include "core/cell/handoff_messages.hpp"
#include "core/cell/instance_impl.hpp"
#include "core/cell/share_out.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

HttpResponse refused(const Error& error) {
  if (error.code == ErrorCode::kInvalid) return error_response(409, "refused", error.message);
  return busy_response("busy", error.message, error.retry_after_ms);
}

}  // namespace

HttpResponse Instance::Impl::handle(const HttpRequest& request) {
  if (request.target.starts_with(kHandoffPrefix)) return handle_handoff(request);
  return api->handle(request);
}

HttpResponse Instance::Impl::handle_handoff(const HttpRequest& request) {
  HttpResponse response;
  if (request.method != "POST") {
    response = method_not_allowed("POST");
  } else if (auto answer = answer_handoff(request); !answer) {
    response = refused(answer.error());
  } else {
    response.headers.set("Content-Type", "application/json");
    response.body = *std::move(answer);
  }
  finish_response(request, response);
  return response;
}

Result<std::string> Instance::Impl::answer_handoff(const HttpRequest& request) {
  const auto for_another = [&](const IncarnationId& to) {
    return fail(ErrorCode::kInvalid, to.text() + " is not here; this is " + self.text());
  };
  if (ending.is_set()) return fail(ErrorCode::kInvalid, self.text() + " is ending");
  if (request.target == kPreparePath) {
    auto message = decode_prepare(request.body);
    MORULA_TRY(message);
    if (message->to != self) return for_another(message->to);
    MORULA_TRY(receiver->prepare(*message));
    return std::string("{}");
  }
  if (request.target == kAcceptPath) {
    auto message = decode_accept(request.body);
    MORULA_TRY(message);
    if (message->to != self) return for_another(message->to);
    auto from = receiver->Accept(*message);
    MORULA_TRY(from);
    return encode_accepted(*from);
  }
  if (request.target == kNamedPath) {
    auto message = decode_named(request.body);
    MORULA_TRY(message);
    if (message->to != self) return for_another(message->to);
    shards.learn(std::move(message->topology));
    receiver->note_named(message->manifest_key, std::move(message->manifest));
    open_named();
    return std::string("{}");
  }
  return fail(ErrorCode::kInvalid, "there is no such message between instances");
}

Result<CellView> Instance::Impl::view() {
  auto topology = read_topology(env, config.retry);
  MORULA_TRY(topology);
  if (!*topology) return fail({ErrorCode::kBusy, "the cell has no topology yet", 1000});
  auto members = membership.read_all();
  MORULA_TRY(members);
  CellView view;
  shards.learn((*topology)->content);
  view.topology = std::move((*topology)->content);
  for (Member& member : *members) {
    view.members.push_back(
        {std::move(member.incarnation), std::move(member.address), member.state});
  }
  view.self = self;
  view.moves = changes->moves();
  return view;
}

Result<Changed> Instance::Impl::apart(std::function<Result<Changed>()> change) {
  struct Task {
    Event done;
    std::optional<Result<Changed>> result;
  };
  const auto task = std::make_shared<Task>();
  fibers->spawn("change", [task, change = std::move(change)] {
    task->result = change();
    task->done.set();
  });
  task->done.wait();
  return *std::move(task->result);
}

Result<Changed> Instance::Impl::split(Prefix prefix) {
  return apart([this, prefix] { return changes->split(prefix); });
}

Result<Changed> Instance::Impl::merge(Prefix prefix) {
  return apart([this, prefix] { return changes->merge(prefix); });
}

Result<Changed> Instance::Impl::move(Prefix prefix, const IncarnationId& to) {
  return apart([this, prefix, to] { return changes->move(prefix, to); });
}

void Instance::Impl::give_all_away() {
  constexpr size_t kMovesAtOnce = 4;
  std::set<std::string> others = membership.live();
  others.erase(self.name);
  if (others.empty() || !shards.topology()) return;
  std::vector<std::pair<Prefix, IncarnationId>> moves;
  for (const auto& [prefix, name] : share_out(*shards.topology(), self, others)) {
    if (const auto to = membership.live_incarnation(name)) moves.emplace_back(prefix, *to);
  }
  Event done;
  with_scope(env.domain, [&](Scope& giving) {
    giving.spawn("give_all_away", [&] {
      const auto given = for_each_concurrently(moves.size(), kMovesAtOnce, [&](size_t i) {
        const auto moved = changes->move(moves[i].first, moves[i].second);
        env.trace.sometimes("a stopping instance gave a shard away", moved.has_value());
        return Result<>();
      });
      if (given) done.set();
    });
    done.wait_until(env.clock, env.clock.now() + config.stop_grace);
    giving.cancel();
  });
}

std::shared_ptr<Shard> Instance::Impl::make_shard(AdoptedShard adopted) {
  return std::make_shared<Shard>(env, config.shard, *log, lease, cache, table_numbers, memtables,
                                 std::move(adopted));
}

void Instance::Impl::run_shard(const std::shared_ptr<Shard>& shard) {
  fibers->spawn("flusher", [shard] { shard->run_flusher(); });
  fibers->spawn("compactor", [shard] { shard->run_compactor(); });
}

Result<std::string> Instance::Impl::address_of(const IncarnationId& incarnation) {
  auto owner = membership.look_at(incarnation);
  MORULA_TRY(owner);
  if (!*owner || (*owner)->over) {
    return fail(ErrorCode::kInvalid, incarnation.text() + " is no live member");
  }
  return (*owner)->address;
}

}  // namespace morula
