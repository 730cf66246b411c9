#include "sim/faults/request_faults.hpp"

#include <algorithm>
#include <iterator>

#include "sim/faults/latency.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

// How much of the faults the requests of one purpose get: often all the same, sometimes all for the
// heartbeats or for the log.
constexpr uint64_t kPurposeQuarters[] = {0, 1, 4, 4, 4, 12};

constexpr uint64_t kPieceBytes[] = {100, 700, 4000, 16 * kKiB};

}  // namespace

RequestFaults::RequestFaults(Simulation& simulation)
    : simulation_(simulation),
      random_(simulation.world().random().fork()),
      store_weather_(random_.next()),
      network_weather_(random_.next()),
      links_(simulation.world().processes().size()) {
  bool even = random_.chance(1, 2);
  for (uint64_t& factor : purpose_factor_) {
    factor = even ? 4 : kPurposeQuarters[random_.below(std::size(kPurposeQuarters))];
  }
  simulation.world().store().set_fates(
      [this](const StoreRequest& request) { return store_fate(request); });
  simulation.world().network().set_fates([this](ProcessId from, ProcessId to, SimNetwork::Way way) {
    return call_fate(from, to, way);
  });
}

void RequestFaults::heal() {
  healed_ = true;
  links_.repair();
  episodes_.clear();
}

bool RequestFaults::hits(Fault fault, uint64_t factor) {
  const uint32_t permille = simulation_.plan().faults[fault];
  if (permille == 0 || factor == 0) return false;
  if (!random_.chance(std::min<uint64_t>(permille * factor, 3000), 4000)) return false;
  simulation_.happened(fault);
  return true;
}

bool RequestFaults::hits(Fault fault, uint64_t factor, const StoreRequest& request) {
  if (!hits(fault, factor)) return false;
  simulation_.fault_steps().befalls(fault, request);
  return true;
}

StoreFate RequestFaults::store_fate(const StoreRequest& request) {
  StoreFate fate;
  fate.to_store = draw_store_latency(random_, simulation_.plan().store_speed);
  fate.to_caller = draw_store_latency(random_, simulation_.plan().store_speed);
  if (healed_) return fate;
  if (request.purpose == Purpose::kOwnership) fate.to_store += simulation_.plan().ownership_delay;
  draw_store_faults(request, fate);
  apply_store_links(request, fate);
  episodes_.apply(request, simulation_.world().now(), fate);
  return fate;
}

void RequestFaults::draw_store_faults(const StoreRequest& request, StoreFate& fate) {
  const uint64_t factor = store_weather_.quarters(simulation_.world().now()) *
                          purpose_factor_[static_cast<size_t>(request.purpose)] / 4;
  const bool changes = request.call == StoreCall::kPut || request.call == StoreCall::kRemove ||
                       request.call == StoreCall::kRemoveMany;
  if (hits(Fault::store_slow, factor, request)) {
    (random_.chance(1, 2) ? fate.to_store : fate.to_caller) += draw_tail(random_);
  }
  if (hits(Fault::store_request_lost, factor, request)) fate.lands = false;
  if (hits(Fault::store_answer_lost, factor, request)) fate.answered = false;
  if (hits(Fault::store_throttled, factor, request)) fate.refused = ErrorCode::kThrottled;
  if (hits(Fault::store_error, factor, request)) fate.refused = ErrorCode::kUnavailable;
  if (!changes) {
    if (request.call == StoreCall::kGet && hits(Fault::bit_flip, factor, request))
      fate.flips_bit = true;
    return;
  }
  if (request.call == StoreCall::kPut) draw_put_faults(request, fate, factor);
  if (hits(Fault::store_error_applied, factor, request)) fate.spoiled = ErrorCode::kUnavailable;
  if (hits(Fault::store_late, factor, request)) {
    fate.to_store += draw_stray(random_);
    fate.answered = random_.chance(1, 2);
  }
  if (hits(Fault::store_again, factor, request)) fate.lands_again = draw_stray(random_);
  if (request.call == StoreCall::kRemoveMany && hits(Fault::store_half, factor, request)) {
    fate.half = true;
    if (fate.answered && !fate.refused) fate.spoiled = ErrorCode::kUnavailable;
  }
}

void RequestFaults::draw_put_faults(const StoreRequest& request, StoreFate& fate, uint64_t factor) {
  if (hits(Fault::store_conflict, factor, request)) fate.refused = ErrorCode::kConflict;
}

void RequestFaults::apply_store_links(const StoreRequest& request, StoreFate& fate) {
  const Links::Way& there = links_.to_store(request.process);
  const Links::Way& back = links_.from_store(request.process);
  if (there.cut) fate.lands = false;
  if (back.cut) fate.answered = false;
  if (there.slow) fate.to_store += draw_tail(random_);
  if (back.slow) fate.to_caller += draw_tail(random_);
}

CallFate RequestFaults::call_fate(ProcessId from, ProcessId to, SimNetwork::Way way) {
  CallFate fate;
  fate.delay = draw_network_latency(random_);
  if (way == SimNetwork::Way::kPiece) {
    fate.piece_bytes = kPieceBytes[random_.below(std::size(kPieceBytes))];
  }
  if (healed_) return fate;
  const Links::Way& link = links_.way(from, to);
  const uint64_t factor = network_weather_.quarters(simulation_.world().now());
  const Fault lost = way == SimNetwork::Way::kRequest ? Fault::request_lost : Fault::answer_lost;
  if (link.slow) fate.delay += draw_tail(random_);
  // TCP sends again what a cut link has swallowed, so some of it comes after all, very late.
  if (link.cut || hits(lost, factor)) {
    if (random_.chance(1, 2)) {
      fate.lost = true;
    } else {
      fate.delay += draw_stray(random_);
    }
  }
  return fate;
}

}  // namespace morula::sim
