// What a sweep adds up to, as a table for people.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "sim/sweep/job.hpp"

namespace morula::sim {

class Summary {
 public:
  void add(const JobResult& result);

  uint64_t seeds() const { return seeds_; }
  uint64_t failures() const { return failures_; }
  /// Pairs of fault and step that enough seeds have to reach, and these have not.
  std::vector<std::string> missing_pairs() const;
  /// `wall_seconds`: how long the whole has taken.
  void print(std::FILE* out, double wall_seconds) const;

 private:
  void print_speed(std::FILE* out, double wall_seconds) const;
  void print_counts(std::FILE* out, const char* title,
                    const std::map<std::string, uint64_t>& counts) const;
  void print_pairs(std::FILE* out) const;
  void print_never(std::FILE* out) const;

  uint64_t seeds_ = 0;
  uint64_t failures_ = 0;
  uint64_t expected_ = 0;
  uint64_t virtual_us_ = 0;
  uint64_t work_us_ = 0;  // CPU time of the seeds
  uint64_t operations_ = 0;
  uint64_t store_requests_ = 0;
  uint64_t calls_ = 0;
  uint64_t switches_ = 0;
  std::map<std::string, uint64_t> rules_;  // failures by rule
  std::map<std::string, uint64_t> purposes_;
  std::map<std::string, uint64_t> faults_;
  std::map<std::string, uint64_t> steps_;
  std::map<std::string, uint64_t> pairs_;
  std::map<std::string, uint64_t> places_;  // seeds that reached it
};

}  // namespace morula::sim
