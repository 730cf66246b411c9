#include "sim/clients/checks.hpp"

#include <algorithm>
#include <utility>

#include "core/api/relay.hpp"
#include "core/rt/fiber.hpp"

namespace morula::sim {

using invariants::StopReason;

namespace {

/// Tells processes apart, and the runs of each.
uint64_t run_of(const StoreRequest& request) {
  return uint64_t{request.process} << 32 | request.life;
}

}  // namespace

const std::string* Checks::Bucket::find(std::string_view key) const {
  auto found = store_.objects().find(key);
  return found == store_.objects().end() ? nullptr : found->second.body.get();
}

Checks::Checks(World& world)
    : world_(world),
      bucket_(world.store()),
      observer_([&world] { return world.now().time_since_epoch(); }, bucket_) {
  observer_.hold_to_specs();
  world_.trace().add_observer(*this);
}

void Checks::watch_leases() {
  observer_.watch_leases([this](std::string_view instance) -> std::optional<Time> {
    for (Process& process : world_.processes()) {
      if (process.name() == instance) return process.clock().now();
    }
    return std::nullopt;
  });
}

void Checks::watch_walls(std::vector<const MachineClock*> clocks) {
  observer_.watch_walls([clocks = std::move(clocks)] {
    invariants::WallClocks::Reading reading{clocks.front()->wall(), clocks.front()->wall()};
    for (const MachineClock* clock : clocks) {
      reading.slowest = std::min(reading.slowest, clock->wall());
      reading.fastest = std::max(reading.fastest, clock->wall());
    }
    return reading;
  });
}

Checks::~Checks() {
  world_.trace().remove_observer(*this);
}

void Checks::judge() {
  const invariants::Violations& verdict = observer_.verdict();
  if (verdict.empty() || world_.failure()) return;
  const invariants::Violation& first = verdict.kept().front();
  world_.fail(std::string(number_of(first.invariant)), to_string(first));
}

invariants::HandlerId Checks::handler() const {
  auto found = handlers_.find(this_fiber());
  return found == handlers_.end() ? 0 : found->second;
}

void Checks::on_step(const Life& /*by*/, const StepEvent& event) {
  observer_.step(event, handler());
  judge();
}

void Checks::on_log(const Life& by, Severity severity, std::string_view event,
                    std::initializer_list<LogField> fields) {
  if (event == "request_tried_again") observer_.request_tried_again(handler());
  observer_.log_line(name_of(by.process), severity, event, fields);
  judge();
}

void Checks::on_store_sent(const StoreRequest& request) {
  bool writes = request.call == StoreCall::kPut || request.call == StoreCall::kRemove ||
                request.call == StoreCall::kRemoveMany;
  observer_.store_asked(handler(), writes, request.purpose, request.key);
  if (request.call == StoreCall::kGet) {
    observer_.store_read_sent(request.key, request.purpose, run_of(request));
  }
  if (request.body != nullptr) {
    observer_.store_sent(request.key, **request.body, request.will_land);
  }
  judge();
}

void Checks::on_store_changed(const StoreRequest& request, std::string_view key, const Blob& body) {
  if (body) {
    observer_.object_written(key, *body);
  } else {
    observer_.object_removed(key, request.purpose, run_of(request));
  }
  judge();
}

void Checks::on_bit_flipped(const StoreRequest& request) {
  observer_.bytes_damaged(name_of(request.process));
}

void Checks::on_started(const Life& life) {
  observer_.started(name_of(life.process));
}

void Checks::on_ended(const Life& life) {
  observer_.stopped(name_of(life.process), {}, StopReason::kKilled, {});
}

void Checks::on_paused(const Life& life) {
  observer_.paused(name_of(life.process));
}

void Checks::on_resumed(const Life& life) {
  observer_.resumed(name_of(life.process));
}

void Checks::on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) {
  handlers_[this_fiber()] = number;
  fibers_[number] = this_fiber();
  observer_.request_arrived(number, name_of(at), request.method, request.target);
  const auto hops = request.headers.find(kHopsHeader);
  if (hops && *hops != "1") observer_.passed_on_again(name_of(at), request.target);
}

void Checks::on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                              const HttpResponse* response) {
  auto fiber = fibers_.find(number);
  if (fiber == fibers_.end()) return;  // it never reached a handler
  const bool own = response != nullptr && !response->headers.contains(kForwardedToHeader);
  observer_.request_answered(number, own ? response->status : 0);
  handlers_.erase(fiber->second);
  fibers_.erase(fiber);
  bool reads = request.method == "GET" || request.method == "HEAD";
  // 404 is an answer from the shard's state as well; anything else above 300 need not be.
  bool from_state =
      response != nullptr && (response->status < 300 || response->status == 404) && own;
  if (reads && from_state) {
    const auto tenant = request.headers.find("Morula-Tenant");
    observer_.read_answered(name_of(at), tenant.value_or("default"), request.target);
  }
  judge();
}

}  // namespace morula::sim
