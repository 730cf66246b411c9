// What becomes of requests to the store and of messages between processes.
#pragma once

#include <array>
#include <cstdint>

#include "core/rt/random.hpp"
#include "sim/faults/fault.hpp"
#include "sim/faults/links.hpp"
#include "sim/faults/store_episodes.hpp"
#include "sim/faults/weather.hpp"
#include "sim/world/sim_network.hpp"
#include "sim/world/sim_store.hpp"

namespace morula::sim {

class Simulation;

class RequestFaults {
 public:
  /// Takes over the fates of the simulation's store and network. Call once all processes are added.
  explicit RequestFaults(Simulation& simulation);

  Links& links() { return links_; }
  StoreEpisodes& episodes() { return episodes_; }
  /// From now on everything arrives, soon, once; what is on its way stays so.
  void heal();

 private:
  StoreFate store_fate(const StoreRequest& request);
  void draw_store_faults(const StoreRequest& request, StoreFate& fate);
  void draw_put_faults(const StoreRequest& request, StoreFate& fate, uint64_t factor);
  void apply_store_links(const StoreRequest& request, StoreFate& fate);
  CallFate call_fate(ProcessId from, ProcessId to, SimNetwork::Way way);
  /// Draws whether `fault` hits; `factor` in quarters.
  bool hits(Fault fault, uint64_t factor);
  bool hits(Fault fault, uint64_t factor, const StoreRequest& request);

  Simulation& simulation_;
  Random random_;
  Weather store_weather_;
  Weather network_weather_;
  Links links_;
  StoreEpisodes episodes_;
  std::array<uint64_t, 16> purpose_factor_{};  // in quarters, by Purpose
  bool healed_ = false;
};

}  // namespace morula::sim
