#include "sim/world/process.hpp"

#include "core/base/check.hpp"
#include "sim/world/sim_compute.hpp"
#include "sim/world/sim_network.hpp"
#include "sim/world/sim_platform.hpp"
#include "sim/world/sim_store.hpp"
#include "sim/world/sim_trace.hpp"
#include "sim/world/world.hpp"

namespace morula::sim {

struct Process::Run {
  Run(World& world, Process& process, uint32_t number)
      : life{process.id_, number, world.events().make_gate(), false},
        random(process.random_.fork()),
        domain(world.scheduler(), process.name_),
        clock(world.events(), life, process.clock_),
        store(world.store(), life, clock),
        network(world.network(), life, clock, SimNetwork::address_of(process.name_)),
        compute(life, clock, random),
        platform(world.process_table(), world.process_table().enter(process.machine_, world.now())),
        trace(world.trace(), life),
        env{domain, clock, network, store, random, compute, platform, trace},
        scope(domain) {}

  Life life;
  Random random;
  Domain domain;
  SimClock clock;
  SimStoreClient store;
  SimPort network;
  SimCompute compute;
  SimPlatform platform;
  ProcessTrace trace;
  Env env;
  Scope scope;
};

Process::Process(World& world, ProcessId id, const ProcessOptions& options, Root root)
    : world_(world),
      id_(id),
      name_(options.name),
      machine_(options.machine),
      root_(std::move(root)),
      random_(world.random().fork()),
      clock_(world.events(), options.clock_offset,
             WallTime{options.wall.ms + world.now().time_since_epoch().count() / 1'000'000}) {
  clock_.set_rate(options.clock_rate);
  world.trace().name_process(id, name_);
  world.network().name_process(id, name_);
}

Process::~Process() = default;

void Process::start() {
  MORULA_CHECK(!alive(), "starts twice");
  runs_.push_back(std::make_unique<Run>(world_, *this, ++number_));
  Run& run = *runs_.back();
  current_ = &run;
  world_.process_changed(*this, "starts");
  for (Observer* observer : world_.trace().observers()) observer->on_started(run.life);
  if (!root_) return;
  run.scope.spawn("root", [this, &run] {
    root_(run.env);
    end(run);
  });
}

void Process::kill() {
  if (!alive()) return;
  Run& run = *current_;
  end(run);
  run.domain.kill();
}

void Process::end(Run& run) {
  if (run.life.over) return;
  run.life.over = true;
  current_ = nullptr;
  world_.process_changed(*this, "ends");
  run.network.close();
  world_.events().seal(run.life.ears);
  world_.process_table().leave(run.platform.self());
  for (Observer* observer : world_.trace().observers()) observer->on_ended(run.life);
}

void Process::bury() {
  for (const std::unique_ptr<Run>& run : runs_) {
    if (run->life.over && !run->domain.killed()) run->domain.kill();
  }
  std::erase_if(runs_, [this](const std::unique_ptr<Run>& run) {
    return run.get() != current_ && run->domain.live() == 0;
  });
}

void Process::pause() {
  if (!alive() || paused()) return;
  world_.process_changed(*this, "pauses");
  current_->domain.pause();
  world_.events().shut(current_->life.ears);
  for (Observer* observer : world_.trace().observers()) observer->on_paused(current_->life);
}

void Process::resume() {
  if (!alive() || !paused()) return;
  world_.process_changed(*this, "resumes");
  current_->domain.resume();
  world_.events().open(current_->life.ears, random_);
  for (Observer* observer : world_.trace().observers()) observer->on_resumed(current_->life);
}

bool Process::paused() const {
  return alive() && current_->domain.paused();
}

const Env& Process::env() const {
  MORULA_CHECK(alive());
  return current_->env;
}

void Process::spawn(const char* name, std::function<void(const Env&)> body) {
  MORULA_CHECK(alive());
  Run& run = *current_;
  run.scope.spawn(name, [&run, body = std::move(body)] { body(run.env); });
}

}  // namespace morula::sim
