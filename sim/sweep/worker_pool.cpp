#include "sim/sweep/worker_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/check.hpp"

namespace morula::sim {

namespace {

constexpr size_t kWordsKept = 4000;
constexpr int kTickMs = 100;

void make_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) {
    std::perror("morula-sim: pipe");
    std::exit(2);
  }
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A world takes some 100 MiB at most; one that eats memory without end is a failed seed, not the
// end of the machine. Sanitizers reserve address space that would count.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  const rlimit limit{4ULL << 30, 4ULL << 30};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

/// The worker's life: a job a line in, a result a line out.
[[noreturn]] void work(int jobs, int results, const WorkerPool::Run& run) {
  FILE* in = fdopen(jobs, "r");
  char* line = nullptr;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, in)) > 0) {
    auto job = Job::decode(std::string_view(line, static_cast<size_t>(length)));
    MORULA_CHECK(job.has_value());
    if (!write_all(results, run(*job).encode() + "\n")) break;
  }
  _exit(0);
}

std::string how_it_died(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("the process died by signal ") + strsignal(WTERMSIG(status));
  }
  return "the process exited with code " + std::to_string(WEXITSTATUS(status));
}

/// What says most about a death: an assertion's line, a sanitizer's first line, else the end.
std::string key_words(const std::string& words) {
  for (const char* mark : {"check failed", "ERROR: ", "runtime error", "terminate called"}) {
    const size_t at = words.find(mark);
    if (at == std::string::npos) continue;
    const size_t newline = words.rfind('\n', at);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return words.substr(begin, words.find('\n', at) - begin);
  }
  return words.size() > 300 ? words.substr(words.size() - 300) : words;
}

void close_if_open(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

WorkerPool::WorkerPool(const Options& options) : options_(options), workers_(options.workers) {
  signal(SIGPIPE, SIG_IGN);
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) end(worker);
}

void WorkerPool::begin(Worker& worker) {
  int jobs[2];
  int results[2];
  int words[2];
  make_pipe(jobs);
  make_pipe(results);
  make_pipe(words);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  worker.pid = fork();
  if (worker.pid < 0) {
    std::perror("morula-sim: fork");
    std::exit(2);
  }
  if (worker.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    dup2(words[1], STDERR_FILENO);
    for (const Worker& other : workers_) {
      for (int fd : {other.jobs, other.results, other.words}) {
        if (fd >= 0) close(fd);
      }
    }
    close(jobs[1]);
    close(results[0]);
    close(words[0]);
    limit_memory();
    work(jobs[0], results[1], options_.run);
  }
  close(jobs[0]);
  close(results[1]);
  close(words[1]);
  worker.jobs = jobs[1];
  worker.results = results[0];
  worker.words = words[0];
  fcntl(worker.results, F_SETFL, O_NONBLOCK);
  fcntl(worker.words, F_SETFL, O_NONBLOCK);
  worker.line.clear();
  worker.last_words.clear();
}

void WorkerPool::end(Worker& worker) {
  if (worker.pid < 0) return;
  kill(worker.pid, SIGKILL);
  waitpid(worker.pid, nullptr, 0);
  worker.pid = -1;
  close_if_open(worker.jobs);
  close_if_open(worker.results);
  close_if_open(worker.words);
}

void WorkerPool::give(Worker& worker, const Job& job) {
  if (worker.pid < 0) begin(worker);
  worker.job = job;
  worker.began = Wall::now();
  // A worker that has just died says so when its results are read.
  (void)write_all(worker.jobs, job.encode() + "\n");
}

void WorkerPool::run(const Source& source, const Sink& sink, const Tick& tick) {
  auto ticked = Wall::now();
  while (true) {
    bool busy = false;
    for (Worker& worker : workers_) {
      if (!worker.job) {
        if (auto job = source()) give(worker, *job);
      }
      busy |= worker.job.has_value();
    }
    if (!busy) return;
    wait_for_news(sink);
    if (tick && Wall::now() - ticked >= std::chrono::milliseconds(kTickMs)) {
      ticked = Wall::now();
      tick();
    }
  }
}

void WorkerPool::wait_for_news(const Sink& sink) {
  std::vector<pollfd> polled;
  for (const Worker& worker : workers_) {
    polled.push_back({worker.results, POLLIN, 0});
    polled.push_back({worker.words, POLLIN, 0});
  }
  poll(polled.data(), polled.size(), kTickMs);
  for (Worker& worker : workers_) {
    if (worker.pid < 0) continue;
    read_words(worker);
    read_results(worker, sink);
    if (worker.pid >= 0 && worker.job) check_timeout(worker, sink);
  }
}

void WorkerPool::read_words(Worker& worker) {
  char buffer[4096];
  ssize_t n;
  while ((n = read(worker.words, buffer, sizeof buffer)) > 0) {
    worker.last_words.append(buffer, static_cast<size_t>(n));
  }
  // The beginning tells more than the end, but both are worth keeping.
  if (worker.last_words.size() > 2 * kWordsKept) {
    worker.last_words.erase(kWordsKept, worker.last_words.size() - 2 * kWordsKept);
  }
}

void WorkerPool::read_results(Worker& worker, const Sink& sink) {
  char buffer[65536];
  while (true) {
    const ssize_t n = read(worker.results, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0) return died(worker, sink);
    worker.line.append(buffer, static_cast<size_t>(n));
  }
  const size_t newline = worker.line.find('\n');
  if (newline == std::string::npos) return;
  auto result = JobResult::decode(std::string_view(worker.line).substr(0, newline));
  MORULA_CHECK(result.has_value(), "a worker's result does not decode");
  worker.line.erase(0, newline + 1);
  worker.job.reset();
  sink(*result);
}

void WorkerPool::died(Worker& worker, const Sink& sink) {
  read_words(worker);
  int status = 0;
  waitpid(worker.pid, &status, 0);
  worker.pid = -1;
  close_if_open(worker.jobs);
  close_if_open(worker.results);
  close_if_open(worker.words);
  if (!worker.job) return;
  JobResult result;
  result.job = *worker.job;
  result.verdict = Verdict::kFailed;
  result.rule = "crash";
  result.detail = how_it_died(status) + ": " + key_words(worker.last_words);
  worker.job.reset();
  sink(result);
}

void WorkerPool::check_timeout(Worker& worker, const Sink& sink) {
  if (Wall::now() - worker.began < options_.seed_timeout) return;
  JobResult result;
  result.job = *worker.job;
  result.verdict = Verdict::kFailed;
  result.rule = "endless";
  result.detail = "the seed ran for more than " + std::to_string(options_.seed_timeout.count()) +
                  " s of wall time";
  worker.job.reset();
  end(worker);
  sink(result);
}

}  // namespace morula::sim
