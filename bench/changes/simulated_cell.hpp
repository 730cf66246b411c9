// A cell of whole instances on a simulated object store with the latencies of a far one, and a load
// of appends on it: what a change of shards costs those who use them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/cell/config.hpp"
#include "core/topology/topology.hpp"
#include "sim/world/world.hpp"

namespace morula::bench {

/// Times in ms, sorted when they are asked for.
class Times {
 public:
  void add(Duration time) { times_.push_back(static_cast<double>(time.count()) / 1e6); }
  size_t count() const { return times_.size(); }
  /// `permille` of them are at most this; 1000: the longest. 0 without any.
  double at(uint64_t permille) const;

 private:
  std::vector<double> times_;
};

class SimulatedCell : public sim::Observer {
 public:
  struct Shape {
    uint32_t instances = 8;
    uint8_t first_bits = 6;   // 2^bits shards, all of the first instance
    bool looks_often = true;  // false: nobody looks at the topology by himself
    uint64_t puts_per_second = 10;
  };
  SimulatedCell(uint64_t seed, const Shape& shape);

  sim::World& world() { return world_; }
  Topology topology() const;
  std::string address(uint32_t instance) const;
  /// Lets time pass until `done`; stops the program with `what` if it takes a minute.
  void await(const std::string& what, const std::function<bool()>& done);

  /// Runs as a fiber of the client, to its end.
  void as_client(const std::function<void(const Env&)>& body);
  void kill(uint32_t instance);

  /// Creates the load's streams, then appends to them, so many a second, from now on.
  void begin_load(uint64_t appends_per_second, uint64_t streams);
  /// Where the times of appends go from now on; counted from when each was due.
  void measure(Times* times) { appends_ = times; }
  uint64_t failed_appends() const { return failed_; }

  /// From when a shard was last stopped for a handoff until its next owner served it.
  Times pauses;
  /// Shards served since it was last emptied, by whom.
  std::map<std::string, std::string> served;

  void on_log(const sim::Life& by, Severity severity, std::string_view event,
              std::initializer_list<LogField> fields) override;

 private:
  void append_for_ever(const Env& env, uint64_t number, Duration period, uint64_t streams);

  sim::World world_;
  Shape shape_;
  std::vector<sim::Process*> instances_;
  sim::Process* client_;
  Times* appends_ = nullptr;
  uint64_t failed_ = 0;
  std::map<std::string, Duration> stopped_;
};

/// Asks the operator's routes of the first instance: the answer's body, or stops the program.
std::string ask(const Env& env, SimulatedCell& cell, const std::string& what,
                const std::string& body);

}  // namespace morula::bench
