// Runs jobs in forked worker processes, one at a time each: a crash, an assertion or an endless
// loop is one failed seed, whose message is the worker's last words, and the next worker goes on.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/job.hpp"

namespace morula::sim {

class WorkerPool {
 public:
  /// What a worker does with a job.
  using Run = std::function<JobResult(const Job&)>;
  struct Options {
    size_t workers = 1;
    std::chrono::seconds seed_timeout{120};  // of wall time; past it the seed has failed
    Run run;
  };
  /// The next job; nullopt when there is none at present (asked again after each result).
  using Source = std::function<std::optional<Job>()>;
  using Sink = std::function<void(const JobResult&)>;
  /// Called about ten times a second.
  using Tick = std::function<void()>;

  explicit WorkerPool(const Options& options);
  /// Ends the workers.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Until `source` has nothing and every job has ended.
  void run(const Source& source, const Sink& sink, const Tick& tick = {});

 private:
  using Wall = std::chrono::steady_clock;
  struct Worker {
    pid_t pid = -1;
    int jobs = -1;     // we write
    int results = -1;  // we read
    int words = -1;    // its stderr
    std::optional<Job> job;
    Wall::time_point began;
    std::string line;
    std::string last_words;
  };

  void begin(Worker& worker);
  void end(Worker& worker);
  void give(Worker& worker, const Job& job);
  void wait_for_news(const Sink& sink);
  void read_results(Worker& worker, const Sink& sink);
  void read_words(Worker& worker);
  void died(Worker& worker, const Sink& sink);
  void check_timeout(Worker& worker, const Sink& sink);

  Options options_;
  std::vector<Worker> workers_;
};

}  // namespace morula::sim
