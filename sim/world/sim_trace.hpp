// Everything that processes tell, in one place: hashed, handed to observers, kept for people when
// asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/rt/trace.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/trace_hash.hpp"

namespace morula::sim {

/// Of one world.
class SimTrace {
 public:
  /// Gets each line of text: time in seconds, process, what happened. Costs time, so it is off
  /// unless somebody wants to read it.
  using LineSink = std::function<void(const std::string& line)>;

  explicit SimTrace(const EventQueue& events) : events_(events) {}

  TraceHash& hash() { return hash_; }
  void add_observer(Observer& observer) { observers_.push_back(&observer); }
  void remove_observer(Observer& observer);
  void forget_observers() { observers_.clear(); }
  const std::vector<Observer*>& observers() const { return observers_; }

  /// `detail`: every request to the store and every call too.
  void set_line_sink(LineSink sink, bool detail = false) {
    sink_ = std::move(sink);
    detail_ = detail;
  }
  bool wants_lines() const { return static_cast<bool>(sink_); }
  bool wants_detail() const { return wants_lines() && detail_; }
  /// A line of the world itself or of a process.
  void line(std::string_view who, std::string_view what);

  void name_process(ProcessId process, std::string name);
  std::string_view name_of(ProcessId process) const { return names_[process]; }
  std::string_view process_name(ProcessId process) const { return names_[process]; }

  /// What a process's Trace hands on.
  void step(const Life& by, const StepEvent& event);
  void log(const Life& by, Severity severity, std::string_view event,
           std::initializer_list<LogField> fields);
  void sometimes(std::string_view place, bool reached);

  /// How often each step was taken, by name.
  std::map<std::string, uint64_t> steps() const;
  /// Each place that was passed, and whether it was ever reached.
  std::map<std::string, bool> places() const;

 private:
  const EventQueue& events_;
  TraceHash hash_;
  std::vector<Observer*> observers_;
  LineSink sink_;
  bool detail_ = false;
  std::vector<std::string> names_;
  std::vector<uint64_t> steps_;
  struct Place {
    std::string_view name;
    bool reached;
  };
  std::vector<Place> places_;
  std::unordered_map<const char*, size_t> place_of_;  // by literal; only for look-up
};

/// The Trace of one run of a process.
class ProcessTrace final : public Trace {
 public:
  ProcessTrace(SimTrace& trace, const Life& life) : trace_(trace), life_(life) {}

  void step(const StepEvent& event) override {
    if (!life_.over) trace_.step(life_, event);
  }
  void log(Severity severity, std::string_view event,
           std::initializer_list<LogField> fields) override {
    if (!life_.over) trace_.log(life_, severity, event, fields);
  }
  void sometimes(std::string_view place, bool reached) override {
    if (!life_.over) trace_.sometimes(place, reached);
  }

 private:
  SimTrace& trace_;
  const Life& life_;
};

}  // namespace morula::sim
