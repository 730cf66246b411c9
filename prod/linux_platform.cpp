#include "prod/linux_platform.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "prod/posix_file.hpp"

namespace morula {
namespace {

/// The start of a small file of /proc; nullopt and `errno` when it can't be read.
std::optional<std::string> read_start(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  char buffer[4096];
  const ssize_t n = ::read(file.get(), buffer, sizeof(buffer));
  if (n < 0) return std::nullopt;
  return std::string(buffer, static_cast<size_t>(n));
}

struct ProcessState {
  char state = '?';         // 'R' runs, 'S' sleeps, 'T' is stopped, 'Z' has ended, ...
  uint64_t start_time = 0;  // in clock ticks since boot
};

/// proc(5), /proc/[pid]/stat: the fields after the command's name, which is in parentheses and may
/// hold anything.
std::optional<ProcessState> parse_stat(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 2);
  ProcessState process;
  process.state = rest.front();
  constexpr int kFieldsFromStateToStartTime = 19;
  for (int i = 0; i < kFieldsFromStateToStartTime; ++i) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), process.start_time);
  if (parsed.ec != std::errc()) return std::nullopt;
  return process;
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

LinuxPlatform::LinuxPlatform() {
  // Where /proc is missing, the identity stays empty and proves nothing to anybody.
  self_.boot_id = trimmed(read_start("/proc/sys/kernel/random/boot_id").value_or(""));
  char space[256];
  const ssize_t n = ::readlink("/proc/self/ns/pid", space, sizeof(space));
  if (n > 0) self_.pid_namespace.assign(space, static_cast<size_t>(n));
  self_.pid = static_cast<uint64_t>(::getpid());
  const auto stat = read_start("/proc/self/stat");
  if (const auto process = stat ? parse_stat(*stat) : std::nullopt) {
    self_.start_time = process->start_time;
  }
}

bool LinuxPlatform::provably_gone(const ProcessIdentity& process) const {
  if (process.boot_id.empty() || process.pid_namespace.empty() || process.pid == 0) return false;
  if (process.boot_id != self_.boot_id || process.pid_namespace != self_.pid_namespace) {
    return false;
  }
  if (process.start_time == 0 || self_.start_time == 0) return false;
  // The kernel's word; /proc may hide the processes of other users.
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  const auto stat = read_start("/proc/" + std::to_string(process.pid) + "/stat");
  const auto found = stat ? parse_stat(*stat) : std::nullopt;
  if (!found) return false;
  if (found->start_time != process.start_time) return true;  // the pid was given to another
  // A zombie's threads have ended; it only waits for its parent to ask how.
  return found->state == 'Z' || found->state == 'X';
}

}  // namespace morula
