#include "bench/load/process_usage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace morula::load {
namespace {

constexpr std::string_view kListening = "0A";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

/// "socket:[123]" of each socket that listens on the port.
std::set<std::string> sockets_of(uint16_t port) {
  std::set<std::string> sockets;
  const std::string ending = fmt::format(":{:04X}", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    for (std::string line; std::getline(in, line);) {
      const auto words = words_of(line);
      if (words.size() > 9 && words[1].ends_with(ending) && words[3] == kListening) {
        sockets.insert("socket:[" + words[9] + "]");
      }
    }
  }
  return sockets;
}

}  // namespace

std::optional<ProcessUsage> usage_of(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  // The name, in brackets, may hold anything.
  const auto words = words_of(line.substr(line.rfind(')') + 1));
  if (words.size() < 22) return std::nullopt;
  const auto tick_us = 1'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return ProcessUsage{std::stoull(words[11]) * tick_us, std::stoull(words[12]) * tick_us,
                      std::stoull(words[21]) * page_bytes};
}

std::optional<int> listener_of(uint16_t port) {
  namespace fs = std::filesystem;
  const auto sockets = sockets_of(port);
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    int pid = 0;
    const std::string name = process.path().filename();
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    for (fs::directory_iterator file(process.path() / "fd", error), end; !error && file != end;
         file.increment(error)) {
      std::error_code gone;
      if (sockets.contains(fs::read_symlink(file->path(), gone).string())) return pid;
    }
  }
  return std::nullopt;
}

}  // namespace morula::load
