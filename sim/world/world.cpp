#include "sim/world/world.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace morula::sim {

World::World(uint64_t seed)
    : random_(seed),
      order_(random_.fork()),
      scheduler_(order_),
      trace_(events_),
      store_(events_, trace_, random_.next()),
      network_(events_, trace_) {}

World::~World() {
  end();
}

void World::end() {
  trace_.forget_observers();
  switch_watcher_ = nullptr;
  for (Process& process : processes_) process.kill();
  bury();
  scheduler_.run_ready();
  events_.clear();
}

Process& World::add(const ProcessOptions& options, Process::Root root) {
  bury();
  auto id = static_cast<ProcessId>(processes_.size());
  Process& process = processes_.emplace_back(*this, id, options, std::move(root));
  process.start();
  return process;
}

bool World::run_one() {
  if (scheduler_.has_ready()) {
    if (switches_ >= next_action_switch_) {
      run_switch_action();
      return true;
    }
    count_switch();
    scheduler_.run_one();
    if (switch_watcher_) switch_watcher_(scheduler_.last_ran());
    return true;
  }
  return events_.run_next();
}

void World::count_switch() {
  ++switches_;
  if (switches_time_ != now()) {
    switches_time_ = now();
    switches_at_now_ = 0;
  }
  if (++switches_at_now_ > kSwitchesAtOneTimeMax) {
    fail("livelock", "fibers keep switching and no time passes");
  }
  if (switches_ > kSwitchesMax) fail("livelock", "fibers keep switching far beyond what is needed");
}

void World::run_until(TrueTime time) {
  while (!failure_) {
    if (!scheduler_.has_ready() && events_.next_at() > time) {
      events_.advance_to(time);
      return;
    }
    run_one();
  }
}

bool World::run_until_true(const std::function<bool()>& done, TrueTime limit) {
  while (!done()) {
    if (failure_) return false;
    if (!scheduler_.has_ready() && events_.next_at() > limit) return false;
    if (!run_one()) return false;
  }
  return true;
}

void World::at_switch(uint64_t number, std::function<void()> action) {
  switch_actions_.emplace(number, std::move(action));
  next_action_switch_ = switch_actions_.begin()->first;
}

void World::run_switch_action() {
  std::function<void()> action = std::move(switch_actions_.begin()->second);
  switch_actions_.erase(switch_actions_.begin());
  next_action_switch_ = switch_actions_.empty() ? UINT64_MAX : switch_actions_.begin()->first;
  action();
}

void World::fail(std::string rule, std::string detail) {
  if (failure_) return;
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kVerdict) << 56);
  trace_.hash().add(rule);
  trace_.line("world", "FAILED " + rule + ": " + detail);
  failure_ = Failure{std::move(rule), std::move(detail), now()};
}

void World::process_changed(const Process& process, std::string_view what) {
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kProcess) << 56 | process.id());
  trace_.hash().add(static_cast<uint64_t>(now().time_since_epoch().count()));
  trace_.hash().add(what);
  if (trace_.wants_lines()) trace_.line(process.name(), what);
}

void World::bury() {
  for (Process& process : processes_) process.bury();
}

}  // namespace morula::sim
