// Processes for tests: forked before the test has any thread, stopped, woken and killed by pid.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

namespace morula {

/// A child that runs `body` and exits. Killed and reaped at the latest by the destructor.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    int status = 1;
    try {
      body();
      status = 0;
    } catch (...) {  // the parent sees the exit status
    }
    ::_exit(status);
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() { kill(); }

  pid_t pid() const { return pid_; }
  void send(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
  }
  /// SIGKILL, and waits for its end.
  void kill() {
    send(SIGKILL);
    join();
  }
  /// Waits for its end; true when it ended by itself and well.
  bool join() {
    if (pid_ <= 0) return false;
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  /// Waits until it has stopped itself (true) or has ended (false).
  bool wait_stopped() {
    int status = 0;
    while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    if (WIFSTOPPED(status)) return true;
    pid_ = -1;
    return false;
  }

 private:
  pid_t pid_;
};

/// A T that this process and its children see alike.
template <class T>
class SharedMemory {
 public:
  SharedMemory() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map memory");
    value_ = new (memory) T();
  }
  ~SharedMemory() {
    value_->~T();
    ::munmap(value_, sizeof(T));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

}  // namespace morula
