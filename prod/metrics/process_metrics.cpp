#include "prod/metrics/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "prod/version.hpp"

namespace morula {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t virtual_pages = 0;
  uint64_t resident_pages = 0;
  statm >> virtual_pages >> resident_pages;
  return static_cast<double>(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

void collect_process_metrics(MetricFamilies& families) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  families.push_back(counter_family("process_cpu_seconds_total", "User and system time",
                                    seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)));
  families.push_back(
      gauge_family("process_resident_memory_bytes", "Resident memory", resident_bytes()));
  families.push_back(gauge_family("process_open_fds", "Open descriptors", open_descriptors()));
  families.push_back(gauge_family("process_max_fds", "How many may be open",
                                  static_cast<double>(descriptors.rlim_cur)));
  families.push_back({"morula_build_info",
                      "Always 1",
                      prometheus::MetricType::Gauge,
                      {gauge_metric(1, {{"version", std::string(kVersion)}})}});
}

}  // namespace morula
