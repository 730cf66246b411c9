// Clients and operators of a real cell, which somebody else treats badly meanwhile: those of the
// simulator, over real connections, and their history in the same checks.
//
// Everything runs on one loop, so that the order in which the history has beginnings and ends is
// true: an operation begins before its request is sent and ends after its answer is there.
//
// Time is cut into rounds. Each has streams of its own (and a tenant of its own), so that no stream
// grows without bound, and clients of its own; each of these also uses some stream of an earlier
// round. At the end one more client reads all streams of all rounds from their start.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "bench/memory_store.hpp"
#include "bench/quiet_env.hpp"
#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "invariants/observer.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/loop.hpp"
#include "sim/clients/client.hpp"
#include "tests/e2e/storm/storm_network.hpp"
#include "tests/e2e/storm/tally.hpp"

namespace morula::storm {

struct StormOptions {
  std::vector<std::string> urls;   // of the instances; they stay
  std::vector<std::string> names;  // of the instances
  std::string tenant = "storm";    // tenants' names begin with it; they have no streams yet
  uint64_t seed = 1;
  uint32_t workers = 16;                           // clients at a time
  uint32_t operators = 2;                          // who split, merge and move
  uint32_t streams = 6;                            // of a round, shared by its clients
  Duration pause = std::chrono::milliseconds(40);  // of a client between two operations, on average
  Duration round = std::chrono::seconds(20);
  Duration settle_max = std::chrono::seconds(240);  // from the last fault to the last answer
  Lie lie = Lie::kNone;
};

class Storm {
 public:
  Storm(Loop& loop, StormOptions options);

  /// Until `calm`, and until everything is settled, read and judged; gives up after `settle_max`.
  /// In a fiber.
  void run();
  /// All faults are over: no more operations but those that settle what is open.
  void calm();

  const invariants::Observer& observer() const { return observer_; }
  const Places& places() const { return places_; }
  const ChangesDone& changes() const { return changes_; }
  const StormNetwork& network() const { return network_; }
  /// In one line, for whoever waits.
  std::string progress() const;

 private:
  class NoObjects final : public invariants::ObjectView {
   public:
    const std::string* find(std::string_view) const override { return nullptr; }
  };

  bool active() const { return !calm_; }
  size_t round_now() const;
  /// The streams of a round, and one of those before it.
  std::vector<std::string> draw_paths(size_t round, Random& random);
  void work(Random random);
  void operate(Random random);
  void read_everything();
  sim::ClientHabits draw_habits(Random& random) const;
  Env env(Random& random);

  Loop& loop_;
  const StormOptions options_;
  const Time begun_;
  bool calm_ = false;
  Random random_;
  NoObjects nothing_;
  invariants::Observer observer_;
  CurlClient curl_;
  StormNetwork network_;
  MemoryStore store_;
  InlineCompute compute_;
  NoPlatform platform_;
  Places places_;
  ChangesDone changes_;
  uint32_t clients_ = 0;                          // so far
  std::vector<std::vector<std::string>> rounds_;  // the paths of each
};

}  // namespace morula::storm
