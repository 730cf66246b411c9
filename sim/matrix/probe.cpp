#include "sim/matrix/probe.hpp"

#include <algorithm>
#include <utility>

#include "core/cell/handoff_messages.hpp"
#include "core/store/keys.hpp"
#include "core/topology/topology.hpp"
#include "sim/faults/latency.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// By then the cell has tables, and something to merge and to collect.
constexpr Duration kOperationAt = milliseconds(2000);
// One is restarted before a collection, so that there is an incarnation to be fenced and cleared.
constexpr Duration kRestartAt = milliseconds(700);
// A trim that has sent no request for so long has ended.
constexpr Duration kQuiet = milliseconds(50);
constexpr Duration kLookAgain = milliseconds(50);
constexpr Duration kRestartAfter = milliseconds(1);
constexpr Duration kWakesAfterTakeover = milliseconds(200);
constexpr Duration kLivesOn = seconds(1);             // what has woken, before it dies for good
constexpr Duration kAfterwards = milliseconds(1200);  // everything goes on, before all is read
constexpr Duration kStraggles = milliseconds(650);    // longer than an attempt, shorter than two
constexpr Duration kDiesAfterAnswer = milliseconds(700);
constexpr Duration kHeld = milliseconds(2000);  // a round of anything fits in
constexpr Duration kHeldForTakeover = milliseconds(5000);
constexpr Duration kPatience = seconds(12);  // for the operation to begin and to be struck

Prefix low_half() {
  return Prefix{}.child(false);
}

std::string address_of(const InstanceHost& host) {
  return SimNetwork::address_of(host.name());
}

}  // namespace

// --- set-up ---

void Probe::setup(Simulation& simulation) {
  simulation_ = &simulation;
  World& world = simulation.world();
  random_.emplace(world.random().fork());
  world.trace().add_observer(*this);
  world.store().set_fates([this](const StoreRequest& request) { return fate_of(request); });
  world.network().set_fates([this](ProcessId, ProcessId, SimNetwork::Way) {
    CallFate fate;
    fate.delay = draw_network_latency(*random_);
    return fate;
  });
  world.after_each_switch([this](const void* domain) { after_switch(domain); });
  const bool halves = simulation.plan().instance.first_prefix_bits > 0;
  target_ = halves ? low_half() : Prefix{};
  if (case_.operation == Operation::collection || case_.meets == Operation::collection) {
    later(kRestartAt, [this] {
      InstanceHost& last = simulation_->hosts().back();
      last.process().kill();
      last.revive();
    });
  }
  later(kOperationAt, [this] { begin_operation(); });
  await(kOperationAt + kPatience);
}

void Probe::begin_operation() {
  armed_ = true;
  look_whether_over();
  switch (case_.operation) {
    case Operation::split:
    case Operation::merge:
    case Operation::move:
    case Operation::accept:
      return ask_for(case_.operation, 900);
    case Operation::takeover: {
      InstanceHost& dead = owner_of(target_);
      dead_document_ = keys::member(dead.name());
      return dead.retire();
    }
    default:
      return;  // comes by itself
  }
}

CellStep Probe::step_of(Operation operation) const {
  CellStep step;
  step.prefix = target_;
  if (operation == Operation::split) step.kind = CellStep::Kind::kSplit;
  if (operation == Operation::merge) {
    step.kind = CellStep::Kind::kMerge;
    step.prefix = Prefix{};
  }
  if (operation == Operation::move || operation == Operation::accept) {
    step.kind = CellStep::Kind::kMove;
    // A second one goes somewhere else.
    const auto& hosts = simulation_->hosts();
    const size_t away = operators_.empty() ? 1 : 2;
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (&hosts[i] == &owner_of(target_)) step.to = hosts[(i + away) % hosts.size()].name();
    }
  }
  return step;
}

void Probe::ask_for(Operation operation, uint32_t machine) {
  const CellStep step = step_of(operation);
  ShardOperator& person =
      operators_.emplace_back(*simulation_, answers_, step, address_of(owner_of(target_)));
  ProcessOptions options;
  options.name = "o" + std::to_string(operators_.size());
  options.machine = machine;
  simulation_->world().add(options, [&person](const Env& env) { person.run(env); });
}

/// By the topology as it lies in the store.
InstanceHost& Probe::owner_of(Prefix prefix) const {
  auto& hosts = simulation_->hosts();
  const Blob body = simulation_->world().store().peek(keys::kTopology);
  const auto topology = body ? decode_topology(*body) : fail(ErrorCode::kNotFound, "");
  if (!topology) return hosts.front();
  const TopologyShard& row = topology->shard_of(prefix.first());
  const auto found = std::ranges::find(hosts, row.owner.name, &InstanceHost::name);
  return found == hosts.end() ? hosts.front() : *found;
}

// --- from its beginning to its end ---

void Probe::begin(ProcessId victim) {
  if (!armed_ || begun_) return;
  begun_ = true;
  victim_ = victim;
  simulation_->world().trace().line("probe", "the operation begins, at " + this->victim().name());
}

void Probe::end() {
  if (!begun_ || ended_) return;
  ended_ = true;
  simulation_->world().trace().line("probe", "the operation ends");
  if (case_.point == 0) {
    over_at_ = now();
    await(Duration(0));
  }
}

bool Probe::begins(const StoreRequest& request) {
  switch (case_.operation) {
    case Operation::flush:
    case Operation::compaction: {
      const bool flush = case_.operation == Operation::flush;
      if (request.purpose != (flush ? Purpose::kFlush : Purpose::kCompaction)) return false;
      return !std::exchange(under_way_[request.process], true) && armed_;
    }
    case Operation::collection:  // before, it looks whether it is its turn
      return armed_ && request.call == StoreCall::kList && request.key == keys::kLogs;
    case Operation::trim: {
      if (request.purpose != Purpose::kTrim) return false;
      const TrueTime last = std::exchange(last_trim_[request.process], now());
      return armed_ && now() - last >= kQuiet;
    }
    case Operation::takeover:
      return armed_ && request.call == StoreCall::kPut && request.key == dead_document_;
    default:
      return false;
  }
}

void Probe::on_step(const Life& by, const StepEvent& event) {
  if (held_ && now() < held_->until && event.step == ending_step(case_.meets)) met_ = true;
  if (event.step != ending_step(case_.operation)) return;
  under_way_[by.process] = false;
  if (case_.operation >= Operation::flush && by.process == victim_) end();
}

void Probe::on_log(const Life& by, Severity /*severity*/, std::string_view event,
                   std::initializer_list<LogField> /*fields*/) {
  if (event != "serving" || !begun_) return;
  const bool serving_ends =
      case_.operation == Operation::accept || case_.operation == Operation::takeover;
  if (serving_ends && by.process == victim_) end();
  if (asleep_ && by.process != victim_) later(kWakesAfterTakeover, [this] { wake(); });
}

void Probe::on_store_changed(const StoreRequest& /*request*/, std::string_view key,
                             const Blob& body) {
  if (key != keys::kTopology || !body) return;
  if (auto topology = decode_topology(*body)) answers_.written(*std::move(topology));
}

void Probe::on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) {
  if (!armed_ || begun_) return;
  if (case_.operation == Operation::accept) {
    if (request.target == kPreparePath) begin(at);
    return;
  }
  const bool asked = !operators_.empty() && request.method == "POST" &&
                     request.target == step_request(step_of(case_.operation)).target;
  if (!asked) return;
  call_ = number;
  begin(at);
}

void Probe::on_call_answered(ProcessId /*at*/, uint64_t number, const HttpRequest& /*request*/,
                             const HttpResponse* /*response*/) {
  if (begun_ && call_ != 0 && number == call_) end();
}

// --- what becomes of requests ---

StoreFate Probe::fate_of(const StoreRequest& request) {
  StoreFate fate;
  fate.to_store = draw_store_latency(*random_, simulation_->plan().store_speed);
  fate.to_caller = draw_store_latency(*random_, simulation_->plan().store_speed);
  if (healed_) return fate;
  if (begins(request)) begin(request.process);
  if (counts() && request.process == victim_) {
    ++requests_;
    const bool here = case_.kind == PointKind::request && requests_ == case_.point;
    if (here) strike_request(request, fate);
  }
  if (held_) befall_held(request, fate);
  return fate;
}

void Probe::strike_request(const StoreRequest& request, StoreFate& fate) {
  switch (case_.blow) {
    case Blow::crash:
    case Blow::pause:
      strikes_now_ = true;
      break;
    case Blow::crash_lost:
      strikes_now_ = true;
      fate.lands = false;
      break;
    case Blow::crash_late:
    case Blow::pause_late:
      strikes_now_ = true;
      fate.to_store = lease() * 9 / 5;
      break;
    case Blow::answer_lost:
      fate.answered = false;
      break;
    case Blow::request_lost:
      fate.lands = false;
      break;
    case Blow::straggler:
      fate.to_store = kStraggles;
      fate.answered = false;
      break;
    case Blow::late:
      fate.to_store = lease() * 5 / 2;
      fate.answered = false;
      break;
    case Blow::meets:
      hold_back(request, fate);
      return;
  }
  struck_ = true;
  over_at_ = now();
  await(fate.to_store);
  simulation_->world().trace().line("probe", case_.name());
  if (strikes_now_) return;
  if (case_.ending == Ending::same) return await(lease());
  later(kDiesAfterAnswer, [this] { victim().retire(); });
  await(lease() * 3 / 2);
}

void Probe::hold_back(const StoreRequest& request, StoreFate& /*fate*/) {
  struck_ = true;
  const bool for_takeover = case_.meets == Operation::takeover;
  const Duration held = for_takeover ? kHeldForTakeover : kHeld;
  held_ = Held{request.process, std::string(request.key), now() + held};
  blind_ = for_takeover;
  over_at_ = now();
  await(held);
  simulation_->world().trace().line("probe", case_.name());
  strikes_now_ = true;  // the other operation begins
}

/// What is held back is everything that the process wants of that key: a repeated request too.
void Probe::befall_held(const StoreRequest& request, StoreFate& fate) const {
  if (request.process != held_->process || now() >= held_->until) return;
  if (request.key == held_->key) {
    const Duration wait = held_->until - now();
    (case_.ending == Ending::unlanded ? fate.to_store : fate.to_caller) += wait;
  } else if (blind_ && request.purpose == Purpose::kHeartbeat) {
    fate.lands = false;
  }
}

// --- the blow ---

void Probe::after_switch(const void* domain) {
  if (std::exchange(strikes_now_, false)) return strike();
  if (!counts() || !victim().process().alive()) return;
  if (domain != &victim().process().env().domain) return;
  ++switches_;
  if (case_.kind != PointKind::switches || switches_ != case_.point) return;
  struck_ = true;
  over_at_ = now();
  simulation_->world().trace().line("probe", case_.name());
  strike();
}

void Probe::strike() {
  if (crashes(case_.blow)) return crash();
  if (pauses(case_.blow)) return pause();
  if (case_.blow == Blow::meets) meet();
}

void Probe::crash() {
  if (case_.ending == Ending::other) {
    victim().retire();
    return await(lease() * 3 / 2);
  }
  victim().process().kill();
  later(kRestartAfter, [this] { victim().revive(); });
}

void Probe::pause() {
  asleep_ = true;
  victim().process().pause();
  later(lease() * 3, [this] { wake(); });
}

void Probe::wake() {
  if (!std::exchange(asleep_, false)) return;
  victim().process().resume();
  over_at_ = now();
  if (case_.ending == Ending::same) return await(Duration(0));
  later(kLivesOn, [this] { victim().retire(); });
  await(lease() * 3 / 2);
}

void Probe::meet() {
  switch (case_.meets) {
    case Operation::split:
    case Operation::merge:
    case Operation::move:
    case Operation::accept:
      return ask_for(case_.meets, 901);
    default:
      return;  // comes by itself
  }
}

// --- the rest of the world's life ---

InstanceHost& Probe::victim() const {
  auto& hosts = simulation_->hosts();
  return *std::ranges::find_if(
      hosts, [this](InstanceHost& host) { return host.process().id() == victim_; });
}

TrueTime Probe::now() const {
  return simulation_->world().now();
}

Duration Probe::lease() const {
  return simulation_->plan().instance.lease.lease;
}

template <class Action>
void Probe::later(Duration delay, Action action) {
  simulation_->world().events().after(delay, EventQueue::kAlwaysOpen, [this, action] {
    if (!healed_) action();
  });
  await(delay);
}

void Probe::await(Duration delay) {
  over_at_ = std::max(over_at_, now() + delay + kAfterwards);
}

void Probe::look_whether_over() {
  if (now() >= over_at_ && !asleep_) return simulation_->end_active();
  simulation_->world().events().after(kLookAgain, EventQueue::kAlwaysOpen, [this] {
    if (!healed_) look_whether_over();
  });
}

void Probe::heal(Simulation& /*simulation*/) {
  healed_ = true;
}

std::string Probe::awaited(Simulation& /*simulation*/) {
  for (const ShardOperator& person : operators_) {
    if (!person.done()) return person.text() + " has not been answered for good";
  }
  return {};
}

}  // namespace morula::sim
