#include "invariants/append_path.hpp"

namespace morula::invariants {

void AppendPath::arrived(HandlerId handler, std::string_view process, std::string_view method,
                         std::string_view target, Duration now) {
  Handled& handled = handled_[handler];
  handled = {};
  handled.process = process;
  handled.what.append(method).append(" ").append(target);
  handled.reads = method == "GET";
  handled.is_of_cell = target.starts_with("/v1/cell");
  handled.arrived = now;
}

std::string AppendPath::describe(const Handled& handled) const {
  return handled.process + "'s handler of " + handled.what + ", which arrived at " +
         time_text(handled.arrived) + ",";
}

void AppendPath::asked_store(HandlerId handler, bool writes, Purpose purpose, std::string_view key,
                             Duration now) {
  auto found = handled_.find(handler);
  if (found == handled_.end()) return;
  const Handled& handled = found->second;
  if (handled.is_of_cell) return;
  bool reads_rows = purpose == Purpose::kMetaRead || purpose == Purpose::kDataRead ||
                    purpose == Purpose::kIndexRead;
  std::string wrong;
  if (writes) {
    wrong = "writes to the store";
  } else if (!reads_rows) {
    wrong = "looks at ownership or leases";
  } else if (!handled.incarnation.empty() && !handled.reads) {
    wrong = "asks the store after its append has joined the log";
  }
  if (wrong.empty()) return;
  violations_.report(Invariant::kAppendPath, now,
                     describe(handled) + " " + wrong + ": " + std::string(to_string(purpose)) +
                         " request for " + std::string(key));
}

void AppendPath::tried_again(HandlerId handler) {
  auto found = handled_.find(handler);
  if (found == handled_.end()) return;
  found->second.incarnation.clear();
  found->second.acknowledged.reset();
}

void AppendPath::step(HandlerId handler, const StepEvent& event, Duration now) {
  if (event.step == Step::kAppend) {
    auto found = handled_.find(handler);
    if (found == handled_.end()) return;
    found->second.incarnation = event.actor;
    found->second.seq = event.position;
    found->second.acknowledged.reset();
  } else if (event.step == Step::kAcknowledge) {
    for (auto& [id, handled] : handled_) {
      if (handled.incarnation == event.actor && handled.seq < event.position &&
          !handled.acknowledged) {
        handled.acknowledged = now;
      }
    }
  }
}

void AppendPath::answered(HandlerId handler, int status, Duration now) {
  auto found = handled_.find(handler);
  if (found == handled_.end()) return;
  const Handled& handled = found->second;
  bool done = status >= 200 && status < 300;
  if (!handled.incarnation.empty() && done) {
    std::string place =
        "seq " + std::to_string(handled.seq) + " of the log of " + handled.incarnation;
    if (!handled.acknowledged) {
      violations_.report(Invariant::kAppendPath, now,
                         describe(handled) + " answers " + std::to_string(status) + " before " +
                             place + " is acknowledged");
    } else if (*handled.acknowledged != now && !handled.excused && !handled.reads) {
      violations_.report(Invariant::kAppendPath, now,
                         describe(handled) + " answers " + std::to_string(status) + " only now, " +
                             "although " + place + " was acknowledged at " +
                             time_text(*handled.acknowledged) + ": it waited for something else");
    }
  }
  handled_.erase(found);
}

void AppendPath::stopped_for_a_while(std::string_view process) {
  for (auto& [id, handled] : handled_) {
    if (handled.process == process) handled.excused = true;
  }
}

void AppendPath::died(std::string_view process) {
  std::erase_if(handled_, [&](const auto& entry) { return entry.second.process == process; });
}

std::vector<std::string> AppendPath::under_way(Duration arrived_before) const {
  std::vector<std::string> out;
  for (const auto& [id, handled] : handled_) {
    if (handled.arrived < arrived_before) out.push_back(describe(handled));
  }
  return out;
}

}  // namespace morula::invariants
