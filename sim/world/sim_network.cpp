#include "sim/world/sim_network.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/rt/fiber.hpp"
#include "sim/world/sim_call.hpp"

namespace morula::sim {

namespace {

std::string describe(const Result<HttpResponse>& response) {
  if (!response) return std::string(to_string(response.error().code));
  std::string text = std::to_string(response->status);
  if (response->status >= 400) text.append(" ").append(response->body);
  return text;
}

}  // namespace

CallFate SimNetwork::fate(ProcessId from, ProcessId to, Way way) {
  return fates_ ? fates_(from, to, way) : CallFate{};
}

void SimNetwork::send(const CallRef& call, const Life& from) {
  call->number = ++calls_;
  call->caller = from.process;
  call->caller_ears = from.ears;
  auto owner = owners_.find(call->address);
  call->callee = owner == owners_.end() ? from.process : owner->second;
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kCallSent) << 56 |
                    static_cast<uint64_t>(call->caller) << 32 | call->callee);
  trace_.hash().add(static_cast<uint64_t>(events_.now().time_since_epoch().count()));
  trace_.hash().add(call->request.target);
  if (trace_.wants_detail()) {
    trace_.line(trace_.name_of(call->caller), "call " + std::to_string(call->number) + " " +
                                                  call->request.method + " " + call->address +
                                                  call->request.target);
  }
  CallFate there = fate(call->caller, call->callee, Way::kRequest);
  if (there.lost) return;
  events_.after(there.delay, EventQueue::kAlwaysOpen, [this, call] { arrive(call); });
}

void SimNetwork::arrive(const CallRef& call) {
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kCallArrived) << 56 | call->number);
  auto found = serving_.find(call->address);
  if (found == serving_.end()) {
    return answer(
        call, fail(ErrorCode::kNotFound, "simulated network: nobody listens at " + call->address));
  }
  // The kernel accepts it now; the process hears of it when it runs.
  SimPort* port = found->second;
  call->callee_ears = port->life_.ears;
  events_.after(Duration(0), port->life_.ears, [port, incoming = Incoming(*this, call)]() mutable {
    if (!port->handler_) {
      incoming.answer(fail(ErrorCode::kNotFound, "simulated network: nobody listens any more"));
      return;
    }
    port->scope_->spawn("request",
                        [handler = port->handler_, request = std::move(incoming),
                         clock = &port->clock_]() mutable { request.handle(*handler, *clock); });
  });
}

void SimNetwork::answer(const CallRef& call, Result<HttpResponse> response) {
  for (Observer* observer : trace_.observers()) {
    observer->on_call_answered(call->callee, call->number, call->request,
                               response ? &*response : nullptr);
  }
  CallFate back = fate(call->callee, call->caller, Way::kAnswer);
  if (back.lost) {
    call->swallowed = true;
    return;
  }
  call->response = std::move(response);
  call->last_arrival = events_.now() + back.delay;
  events_.after(back.delay, call->caller_ears, [this, call] {
    trace_.hash().add(static_cast<uint64_t>(TraceKind::kCallAnswered) << 56 | call->number);
    if (trace_.wants_detail()) {
      trace_.line(trace_.name_of(call->caller),
                  "answer " + std::to_string(call->number) + " " + describe(*call->response));
    }
    if (*call->response) trace_.hash().add(static_cast<uint64_t>((*call->response)->status));
    call->heard = true;
    call->waiter.wake_all();
  });
}

Result<HttpResponse> SimPort::open(const std::string& address, const HttpRequest& request,
                                   Time deadline, const BodyBounds& bounds, bool whole) {
  if (life_.over) throw Cancelled{};
  auto call = std::make_shared<SimNetwork::Call>();
  call->address = address;
  call->request = request;
  call->bounds = bounds;
  call->whole = whole;
  // Hung up on early, it has a sender that must hear of it.
  auto body = std::make_shared<SimNetwork::Body>(network_, call, clock_);
  network_.send(call, life_);
  deadline = std::min(deadline, clock_.now() + kPatience);
  while (!call->heard) {
    if (call->waiter.wait_until(clock_, deadline)) continue;
    return fail(ErrorCode::kTimeout, "simulated network: no answer from " + address + " in time");
  }
  Result<HttpResponse> response = std::move(*call->response);
  if (!response || !response->source) {
    body->no_more();
    return response;
  }
  body->announce(response->source->length());
  response->body.clear();
  response->source = body;
  if (!whole) return response;
  auto pieces = body->all_until(deadline);
  MORULA_TRY(pieces);
  response->source.reset();
  response->body = std::move(*pieces);
  return response;
}

Result<HttpResponse> SimPort::call(const std::string& address, const HttpRequest& request,
                                   Time deadline) {
  return open(address, request, deadline, {}, true);
}

Result<HttpResponse> SimPort::call_in_pieces(const std::string& address, const HttpRequest& request,
                                             Time deadline, const BodyBounds& bounds) {
  return open(address, request, deadline, bounds, false);
}

void SimPort::serve(Scope& scope, Handler handler) {
  if (life_.over) return;
  MORULA_CHECK(!handler_, "serves already");
  scope_ = &scope;
  handler_ = std::make_shared<Handler>(std::move(handler));
  network_.serving_[address_] = this;
}

void SimPort::stop_serving() {
  handler_.reset();
  scope_ = nullptr;
  auto found = network_.serving_.find(address_);
  if (found != network_.serving_.end() && found->second == this) network_.serving_.erase(found);
}

void SimPort::close() {
  stop_serving();
}

}  // namespace morula::sim
