// Which ways between processes, and between processes and the store, are cut or slow.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/world/life.hpp"

namespace morula::sim {

class Links {
 public:
  explicit Links(size_t processes)
      : processes_(processes),
        ways_(processes * processes),
        to_store_(processes),
        from_store_(processes) {}

  struct Way {
    bool cut = false;
    bool slow = false;
  };

  Way& way(ProcessId from, ProcessId to) { return ways_[from * processes_ + to]; }
  /// The store as seen by a process: requests there, answers back.
  Way& to_store(ProcessId process) { return to_store_[process]; }
  Way& from_store(ProcessId process) { return from_store_[process]; }
  size_t processes() const { return processes_; }
  void repair() { *this = Links(processes_); }

 private:
  size_t processes_;
  std::vector<Way> ways_;
  std::vector<Way> to_store_;
  std::vector<Way> from_store_;
};

}  // namespace morula::sim
