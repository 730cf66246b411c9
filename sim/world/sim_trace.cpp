#include "sim/world/sim_trace.hpp"

#include <algorithm>
#include <cstdio>

namespace morula::sim {

namespace {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "ERROR";
  }
  return "?";
}

}  // namespace

void SimTrace::remove_observer(Observer& observer) {
  std::erase(observers_, &observer);
}

void SimTrace::name_process(ProcessId process, std::string name) {
  if (names_.size() <= process) names_.resize(process + 1);
  names_[process] = std::move(name);
}

void SimTrace::line(std::string_view who, std::string_view what) {
  if (!sink_) return;
  char time[32];
  int64_t ns = events_.now().time_since_epoch().count();
  std::snprintf(time, sizeof time, "%6lld.%06lld ", static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000 / 1000));
  std::string text = time;
  text.append(who);
  text.append(who.size() < 10 ? 10 - who.size() : 0, ' ');
  text.push_back(' ');
  text.append(what);
  sink_(text);
}

void SimTrace::step(const Life& by, const StepEvent& event) {
  hash_.add(static_cast<uint64_t>(TraceKind::kStep) << 56 |
            static_cast<uint64_t>(event.step) << 32 | by.process);
  hash_.add(static_cast<uint64_t>(events_.now().time_since_epoch().count()));
  hash_.add(event.actor);
  hash_.add(event.subject);
  hash_.add(event.position);
  hash_.add(event.other);
  auto step_index = static_cast<size_t>(event.step);
  if (steps_.size() <= step_index) steps_.resize(step_index + 1);
  ++steps_[step_index];
  if (sink_) {
    std::string what = "step " + std::string(to_string(event.step));
    if (!event.subject.empty()) what.append(" ").append(event.subject);
    what.append(" position=").append(std::to_string(event.position));
    what.append(" other=").append(std::to_string(event.other));
    line(names_[by.process], what);
  }
  for (Observer* observer : observers_) observer->on_step(by, event);
}

void SimTrace::log(const Life& by, Severity severity, std::string_view event,
                   std::initializer_list<LogField> fields) {
  hash_.add(static_cast<uint64_t>(TraceKind::kLog) << 56 | static_cast<uint64_t>(severity) << 32 |
            by.process);
  hash_.add(static_cast<uint64_t>(events_.now().time_since_epoch().count()));
  hash_.add(event);
  for (const LogField& field : fields) hash_.add(field.value);
  if (sink_) {
    std::string what(severity_name(severity));
    what.append(" ").append(event);
    for (const LogField& field : fields) {
      what.append(" ").append(field.name).append("=").append(field.value);
    }
    line(names_[by.process], what);
  }
  for (Observer* observer : observers_) observer->on_log(by, severity, event, fields);
}

void SimTrace::sometimes(std::string_view place, bool reached) {
  auto [known, is_new] = place_of_.try_emplace(place.data(), places_.size());
  if (is_new) places_.push_back({place, false});
  if (reached) places_[known->second].reached = true;
}

std::map<std::string, uint64_t> SimTrace::steps() const {
  std::map<std::string, uint64_t> named;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i] > 0) named.emplace(to_string(static_cast<Step>(i)), steps_[i]);
  }
  return named;
}

std::map<std::string, bool> SimTrace::places() const {
  std::map<std::string, bool> named;
  for (const Place& place : places_) named[std::string(place.name)] |= place.reached;
  return named;
}

}  // namespace morula::sim
