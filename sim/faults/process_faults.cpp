#include "sim/faults/process_faults.hpp"

#include <algorithm>
#include <iterator>

#include "sim/faults/clock_rates.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;

constexpr int64_t kDowntimeMs[] = {0, 0, 20, 100, 500, 1000, 3000, 8000, 20'000};
constexpr int64_t kOutageMs[] = {100, 500, 1000, 2000, 4000, 8000, 15'000};
constexpr uint64_t kAmbushChances[] = {1, 1, 2, 3, 8};
// Steps around which crashes and pauses matter most; the others are too frequent to wait for.
constexpr Step kAmbushSteps[] = {Step::kFence,   Step::kSeal,   Step::kAdopt,       Step::kPublish,
                                 Step::kFlush,   Step::kTrim,   Step::kRenewLease,  Step::kExpire,
                                 Step::kReplay,  Step::kPutLog, Step::kAcknowledge, Step::kAppend,
                                 Step::kCompact, Step::kAccept, Step::kHandOff,     Step::kSplit,
                                 Step::kMerge,   Step::kReopen};
constexpr Purpose kAmbushPurposes[] = {
    Purpose::kLog,   Purpose::kHeartbeat,  Purpose::kOwnership, Purpose::kOwnership,
    Purpose::kFlush, Purpose::kCompaction, Purpose::kTrim,      Purpose::kGc};
constexpr uint64_t kAmbushSwitchesMax = 6;

bool lies_in_wait(Fault fault) {
  return fault == Fault::crash_at_step || fault == Fault::pause_at_step ||
         fault == Fault::crash_at_request || fault == Fault::pause_at_request;
}

constexpr Fault kProcessFaults[] = {Fault::crash,
                                    Fault::crash_at_step,
                                    Fault::crash_at_request,
                                    Fault::stop,
                                    Fault::pause_short,
                                    Fault::pause_long,
                                    Fault::pause_at_step,
                                    Fault::clock_rate,
                                    Fault::wall_step,
                                    Fault::partition,
                                    Fault::store_partition,
                                    Fault::slow_link,
                                    Fault::pause_at_request,
                                    Fault::store_purpose_cut,
                                    Fault::store_kind_slow,
                                    Fault::lease_stutter,
                                    Fault::stale_watch,
                                    Fault::blind_writer,
                                    Fault::trim_slow};

bool waits_for_request(Fault fault) {
  return fault == Fault::crash_at_request || fault == Fault::pause_at_request;
}

bool pauses(Fault fault) {
  return fault == Fault::pause_at_step || fault == Fault::pause_at_request;
}

}  // namespace

ProcessFaults::ProcessFaults(Simulation& simulation, Links& links, StoreEpisodes& episodes)
    : simulation_(simulation),
      world_(simulation.world()),
      links_(links),
      episodes_(episodes),
      random_(world_.random().fork()) {
  world_.trace().add_observer(*this);
  if (!simulation_.hosts().empty()) draw_events();
}

ProcessFaults::~ProcessFaults() = default;

template <class Action>
void ProcessFaults::later(Duration delay, Action action) {
  world_.events().after(delay, EventQueue::kAlwaysOpen, [this, action] {
    if (!healed_) action();
  });
}

void ProcessFaults::draw_events() {
  const auto active = static_cast<uint64_t>(simulation_.plan().active.count());
  for (Fault fault : kProcessFaults) {
    const uint32_t hundredths = simulation_.plan().faults[fault];
    uint64_t count = hundredths / 100;
    if (random_.chance(hundredths % 100, 100)) ++count;
    for (uint64_t i = 0; i < count; ++i) schedule(fault, TrueTime(Duration(random_.below(active))));
  }
}

void ProcessFaults::schedule(Fault fault, TrueTime at) {
  if (!lies_in_wait(fault)) return later(at - world_.now(), [this, fault] { strike(fault); });
  Ambush ambush{};
  ambush.fault = fault;
  ambush.from = at;
  ambush.chance_in = kAmbushChances[random_.below(std::size(kAmbushChances))];
  ambush.step = kAmbushSteps[random_.below(std::size(kAmbushSteps))];
  ambush.purpose = kAmbushPurposes[random_.below(std::size(kAmbushPurposes))];
  ambushes_.push_back(ambush);
}

void ProcessFaults::strike(Fault fault) {
  switch (fault) {
    case Fault::crash:
      return crash(some_host(), fault);
    case Fault::stop:
      return stop(some_host());
    case Fault::pause_short:
    case Fault::pause_long:
      return pause(some_host(), fault);
    case Fault::clock_rate:
      return change_clock_rate();
    case Fault::wall_step:
      return step_wall();
    case Fault::partition:
      return partition();
    case Fault::store_partition:
      return cut_store();
    case Fault::slow_link:
      return slow_link();
    case Fault::store_purpose_cut:
    case Fault::store_kind_slow:
    case Fault::lease_stutter:
    case Fault::stale_watch:
    case Fault::blind_writer:
    case Fault::trim_slow:
      simulation_.happened(fault);
      return episodes_.strike(fault, some_host().process().id(), simulation_.plan(), world_.now(),
                              random_);
    default:
      return;
  }
}

void ProcessFaults::on_step(const Life& by, const StepEvent& event) {
  if (event.step == Step::kPublish) publisher_ = host_of(by.process);
  if (event.step == Step::kRenewLease) episodes_.renewed(by.process, world_.now());
  if (ambushes_.empty()) return;
  for (size_t i = 0; i < ambushes_.size(); ++i) {
    const Ambush& ambush = ambushes_[i];
    if (waits_for_request(ambush.fault) || ambush.step != event.step) continue;
    if (world_.now() < ambush.from || !random_.chance(1, ambush.chance_in)) continue;
    const Ambush sprung = ambush;
    ambushes_.erase(ambushes_.begin() + static_cast<ptrdiff_t>(i));
    return spring(sprung, by.process);
  }
}

void ProcessFaults::on_store_sent(const StoreRequest& request) {
  if (ambushes_.empty()) return;
  for (size_t i = 0; i < ambushes_.size(); ++i) {
    const Ambush& ambush = ambushes_[i];
    if (!waits_for_request(ambush.fault) || ambush.purpose != request.purpose) continue;
    if (world_.now() < ambush.from || !random_.chance(1, ambush.chance_in)) continue;
    const Ambush sprung = ambush;
    ambushes_.erase(ambushes_.begin() + static_cast<ptrdiff_t>(i));
    return spring(sprung, request.process);
  }
}

void ProcessFaults::spring(const Ambush& ambush, ProcessId process) {
  InstanceHost* host = host_of(process);
  if (healed_ || host == nullptr) return;
  auto act = [this, host, fault = ambush.fault] {
    if (healed_) return;
    pauses(fault) ? pause(*host, fault) : crash(*host, fault);
  };
  if (random_.chance(2, 3)) {
    world_.at_switch(world_.switches() + random_.below(kAmbushSwitchesMax), act);
  } else {
    later(milliseconds(random_.below(60)), act);
  }
}

void ProcessFaults::crash(InstanceHost& host, Fault fault) {
  if (!host.process().alive()) return;
  simulation_.happened(fault);
  simulation_.fault_steps().strikes(Fault::crash, host.process().id());
  host.process().kill();
  revive_after(host, some_downtime());
}

void ProcessFaults::pause(InstanceHost& host, Fault fault) {
  if (!host.process().alive() || host.process().paused()) return;
  simulation_.happened(fault);
  const auto l = static_cast<uint64_t>(lease().count());
  const bool shorter = fault == Fault::pause_short || (pauses(fault) && random_.chance(1, 3));
  const Duration duration(shorter ? random_.between(l / 20, l - l / 10)
                                  : random_.between(l, l * 3));
  simulation_.fault_steps().strikes(shorter ? Fault::pause_short : Fault::pause_long,
                                    host.process().id());
  host.process().pause();
  revive_after(host, duration);
}

void ProcessFaults::stop(InstanceHost& host) {
  if (!host.process().alive() || host.process().paused()) return;
  simulation_.happened(Fault::stop);
  simulation_.fault_steps().strikes(Fault::stop, host.process().id());
  host.request_stop();
  // Whatever it is doing then: a host kills what does not stop in time.
  const Duration patience = milliseconds(random_.between(1000, 15'000));
  later(patience, [this, &host, run = host.process().runs()] {
    if (host.process().runs() == run) host.process().kill();
    revive_after(host, some_downtime());
  });
}

void ProcessFaults::change_clock_rate() {
  simulation_.happened(Fault::clock_rate);
  some_host().process().clock().set_rate(
      draw_clock_rate(random_, simulation_.plan().clock_rate_permille));
}

void ProcessFaults::step_wall() {
  simulation_.happened(Fault::wall_step);
  const auto ms = static_cast<int64_t>(random_.below(20'000)) - 10'000;
  const auto tell = [this] {
    for (Observer* observer : world_.trace().observers()) observer->on_wall_set();
  };
  tell();
  some_host().process().clock().step_wall(ms);
  tell();
}

void ProcessFaults::partition() {
  simulation_.happened(Fault::partition);
  const bool one_way = random_.chance(1, 3);
  const Duration duration = some_outage();
  std::vector<bool> side(links_.processes());
  for (size_t i = 0; i < side.size(); ++i) side[i] = random_.chance(1, 2);
  for (ProcessId a = 0; a < side.size(); ++a) {
    for (ProcessId b = 0; b < side.size(); ++b) {
      if (side[a] == side[b] || (one_way && side[a])) continue;
      links_.way(a, b).cut = true;
      repair_after(links_.way(a, b), duration);
    }
  }
}

void ProcessFaults::cut_store() {
  simulation_.happened(Fault::store_partition);
  const ProcessId process = some_host().process().id();
  const uint64_t which = random_.below(3);
  const Duration duration = some_outage();
  if (which != 0) {
    links_.to_store(process).cut = true;
    repair_after(links_.to_store(process), duration);
  }
  if (which != 1) {
    links_.from_store(process).cut = true;
    repair_after(links_.from_store(process), duration);
  }
}

void ProcessFaults::slow_link() {
  simulation_.happened(Fault::slow_link);
  const ProcessId process = some_host().process().id();
  const uint64_t which = random_.below(3);
  Links::Way& way =
      which == 0   ? links_.to_store(process)
      : which == 1 ? links_.from_store(process)
                   : links_.way(process, static_cast<ProcessId>(random_.below(links_.processes())));
  way.slow = true;
  repair_after(way, some_outage());
}

void ProcessFaults::revive_after(InstanceHost& host, Duration delay) {
  later(delay, [&host] { host.revive(); });
}

void ProcessFaults::repair_after(Links::Way& way, Duration delay) {
  later(delay, [&way] { way = {}; });
}

InstanceHost* ProcessFaults::host_of(ProcessId process) {
  for (InstanceHost& host : simulation_.hosts()) {
    if (host.process().id() == process) return &host;
  }
  return nullptr;
}

InstanceHost& ProcessFaults::some_host() {
  if (publisher_ != nullptr && random_.chance(1, 2)) return *publisher_;
  return simulation_.hosts()[random_.below(simulation_.hosts().size())];
}

Duration ProcessFaults::some_downtime() {
  const Duration drawn = milliseconds(kDowntimeMs[random_.below(std::size(kDowntimeMs))]);
  return std::min(drawn, simulation_.plan().downtime_max);
}

Duration ProcessFaults::some_outage() {
  return milliseconds(kOutageMs[random_.below(std::size(kOutageMs))]);
}

void ProcessFaults::heal() {
  healed_ = true;
  ambushes_.clear();
  for (InstanceHost& host : simulation_.hosts()) host.revive();
}

}  // namespace morula::sim
