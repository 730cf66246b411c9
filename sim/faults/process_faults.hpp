// Crashes, pauses, stops, clock changes and partitions: what happens to processes, and when.
//
// How many of each is in the plan; the moments are drawn at set-up. Some faults lie in wait: they
// strike when a drawn step of the protocol is taken, or when a request is sent to the store, a few
// fiber switches later, which is where the interesting moments are.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rt/random.hpp"
#include "sim/faults/links.hpp"
#include "sim/faults/store_episodes.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

class ProcessFaults final : public Observer {
 public:
  /// Draws everything that will happen to the simulation's instances until its active phase ends.
  ProcessFaults(Simulation& simulation, Links& links, StoreEpisodes& episodes);
  ~ProcessFaults() override;

  /// Nothing more strikes; what is down or paused comes back.
  void heal();

  void on_step(const Life& by, const StepEvent& event) override;
  void on_store_sent(const StoreRequest& request) override;

 private:
  /// A fault that waits for its moment.
  struct Ambush {
    Fault fault;
    TrueTime from;
    uint64_t chance_in;  // strikes one time out of so many chances
    Step step;           // of crash_at_step and pause_at_step
    Purpose purpose;     // of crash_at_request and pause_at_request
  };

  void draw_events();
  void schedule(Fault fault, TrueTime at);
  void strike(Fault fault);
  void crash(InstanceHost& host, Fault fault);
  void pause(InstanceHost& host, Fault fault);
  void stop(InstanceHost& host);
  void change_clock_rate();
  void step_wall();
  void partition();
  void cut_store();
  void slow_link();
  void spring(const Ambush& ambush, ProcessId process);

  void revive_after(InstanceHost& host, Duration delay);
  void repair_after(Links::Way& way, Duration delay);
  /// Often the one that has published an ownership last.
  InstanceHost& some_host();
  /// Null when no instance runs in that process.
  InstanceHost* host_of(ProcessId process);
  Duration some_downtime();
  Duration some_outage();
  Duration lease() const { return simulation_.plan().instance.lease.lease; }
  /// Runs `action` after `delay`, unless healing has begun.
  template <class Action>
  void later(Duration delay, Action action);

  Simulation& simulation_;
  World& world_;
  Links& links_;
  StoreEpisodes& episodes_;
  Random random_;
  std::vector<Ambush> ambushes_;
  InstanceHost* publisher_ = nullptr;
  bool healed_ = false;
};

}  // namespace morula::sim
