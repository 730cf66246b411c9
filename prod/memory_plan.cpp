#include "prod/memory_plan.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/units.hpp"

namespace morula {
namespace {

constexpr uint64_t kContainerPercent = 70;
// Sizes that are left open are parts of the limit, and no more than this.
constexpr uint64_t kCacheMax = 64 * kMiB;
constexpr uint64_t kMemtablesMax = 64 * kMiB;
// What an idle process takes (18 MiB, 13 of them code), and a little for the heap.
constexpr uint64_t kProcessBytes = 20 * kMiB;
// A row's keys, its nodes, the chunk that its memtable begins.
constexpr uint64_t kAppendOverhead = 512 * kKiB;

/// The number that a file of a cgroup begins with; nullopt: no such file, or "max".
std::optional<uint64_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  file >> text;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t machine_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  uint64_t kib = 0;
  file >> name >> kib;
  return name == "MemTotal:" ? kib * kKiB : 0;
}

/// A limit of any group from `path` upwards counts.
uint64_t least_limit(const std::string& mount, std::string path, const char* file) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (;;) {
    const auto limit = read_number(mount + path + "/" + file);
    if (limit) least = std::min(least, *limit);
    if (path.empty() || path == "/") return least;
    path.erase(path.rfind('/'));
  }
}

std::string in_mib(uint64_t bytes) {
  return fmt::format("{} MiB", (bytes + kMiB - 1) / kMiB);
}

}  // namespace

uint64_t memory_of_container(const std::string& root) {
  uint64_t least = machine_bytes(root);
  if (least == 0) least = std::numeric_limits<uint64_t>::max();
  // "0::/path" is version 2; "4:memory:/path" a controller of version 1.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t path_at = line.find(':', line.find(':') + 1);
    if (path_at == std::string::npos) continue;
    const std::string path = line.substr(path_at + 1);
    if (line.starts_with("0::")) {
      least = std::min(least, least_limit(root + "/sys/fs/cgroup", path, "memory.max"));
    } else if (line.find(":memory:") != std::string::npos) {
      least = std::min(least,
                       least_limit(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

uint64_t resident_bytes() {
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[128];
  const ssize_t read = ::read(fd, text, sizeof(text));
  ::close(fd);
  const std::string_view line(text, read > 0 ? static_cast<size_t>(read) : 0);
  const size_t second = line.find(' ') + 1;
  uint64_t pages = 0;
  std::from_chars(line.data() + std::min(second, line.size()), line.data() + line.size(), pages);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

Result<MemoryShares> plan_memory(ServeOptions& options, uint64_t container_bytes) {
  InstanceConfig& cell = options.instance;
  MemoryShares shares;
  if (options.memory_mb && (*options.memory_mb == 0 || *options.memory_mb > (1ULL << 40))) {
    return fail(ErrorCode::kInvalid,
                "--memory-mb: write how many MiB the process may take, or auto");
  }
  shares.limit =
      options.memory_mb ? *options.memory_mb * kMiB : container_bytes / 100 * kContainerPercent;
  shares.process = kProcessBytes;
  shares.block_cache = options.block_cache_bytes.value_or(std::min(kCacheMax, shares.limit / 8));
  shares.memtables = options.memtable_bytes.value_or(std::min(kMemtablesMax, shares.limit / 8));

  CompactionConfig& compaction = cell.shard.compaction;
  compaction.table_bytes = std::min(compaction.table_bytes, shares.limit / 48);
  compaction.window_bytes = std::min(compaction.window_bytes, shares.limit / 256);
  cell.shard.unflushed_bytes_max = std::min(cell.shard.unflushed_bytes_max, shares.memtables / 2);
  shares.flushes = std::min(shares.memtables, 2 * cell.shard.unflushed_bytes_max);
  // Two that write tables of full size, with half as much to read from.
  shares.compactions = 3 * compaction.table_bytes;

  cell.log.queued_bytes_max = std::min(cell.log.queued_bytes_max, shares.limit / 32);
  shares.log = cell.log.queued_bytes_max;
  HttpServerConfig& http = options.http;
  http.connections_max =
      std::min<size_t>(http.connections_max, shares.limit / 32 / HttpServer::kConnectionBytes);
  http.requests_max =
      std::min<size_t>(http.requests_max, shares.limit / 16 / HttpServer::kRequestBytes);
  // Those that are refused are there for a moment, too.
  shares.connections = (http.connections_max + http.refused_max) * HttpServer::kConnectionBytes;
  shares.requests = http.requests_max * HttpServer::kRequestBytes;

  // The largest append and the largest answer have to fit, or they would be refused for ever.
  const uint64_t append = cell.stream.append_bytes_max;
  const uint64_t answer = append + cell.stream.read_bytes_max;
  const uint64_t least_left = 2 * (answer + kAppendOverhead) / 3 * 4 + kMiB;
  if (shares.set_aside() + least_left > shares.limit) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format(
            "the memory limit is {} (--memory-mb, ADMIT_RSS_SHED_MB; by default {} % of the "
            "container's): too little for a block cache of {}, memtables of {}, {} for the "
            "rest and appends of {} each. Raise it by {}, or lower --block-cache-bytes, "
            "--memtable-bytes or --append-bytes-max",
            in_mib(shares.limit), kContainerPercent, in_mib(shares.block_cache),
            in_mib(shares.memtables),
            in_mib(shares.set_aside() - shares.block_cache - shares.memtables), in_mib(append),
            in_mib(shares.set_aside() + least_left - shares.limit)));
  }
  const uint64_t least_memtables = (append / 3 * 4 + kAppendOverhead) / 15 * 16;
  if (shares.memtables < least_memtables) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--memtable-bytes: {} don't hold an append of {}; at least {}, or a "
                            "smaller --append-bytes-max",
                            in_mib(shares.memtables), in_mib(append), in_mib(least_memtables)));
  }
  cell.block_cache_bytes = shares.block_cache;
  return shares;
}

}  // namespace morula
