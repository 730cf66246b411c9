#include "bench/density/report.hpp"

#include <fmt/format.h>

namespace morula::density {

namespace {

double mib(uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMiB);
}

double per(uint64_t count, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

double per_second(uint64_t count, double seconds) {
  return seconds <= 0 ? 0 : static_cast<double>(count) / seconds;
}

double milliseconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void add_memory(std::string& text, const char* when, const Memory& memory, const Memory& idle,
                uint64_t streams) {
  const uint64_t grown =
      memory.resident_bytes - std::min(memory.resident_bytes, idle.resident_bytes);
  text +=
      fmt::format("  {:<22} {:>9.1f} MiB, of it block cache {:.1f} MiB; {:.0f} B a stream\n", when,
                  mib(memory.resident_bytes), mib(memory.cache_bytes), per(grown, streams));
}

void add_store_use(std::string& text, const StoreUse& use, uint64_t accepted) {
  for (size_t i = 0; i < kPurposes; ++i) {
    const std::string_view purpose = to_string(static_cast<Purpose>(i));
    const StoreMetrics::Sum& count = use.by_purpose[i];
    if (count.requests == 0) continue;
    text += fmt::format(
        "    {:<12} {:>9} requests  {:>9.1f} MiB put ({:>5.2f})  {:>9.1f} MiB got\n", purpose,
        count.requests, mib(count.bytes_put), per(count.bytes_put, accepted), mib(count.bytes_got));
  }
}

void add_disk_cache(std::string& text, const Outcome& outcome) {
  const DiskCache::Figures& disk = outcome.disk;
  const DiskBlocks::Figures& blocks = disk.blocks;
  text += fmt::format(
      "disk cache\n  {:<22} {:>9} in {:.1f} MiB of {} files; {:.1f} B of memory each\n", "blocks",
      blocks.blocks, mib(blocks.bytes), blocks.segments, per(blocks.memory_bytes, blocks.blocks));
  text += fmt::format("  {:<22} {:>9} hits, {} misses, {} late, {} damaged; {} writes dropped\n",
                      "", disk.hits, disk.misses, disk.late_reads, blocks.damaged + disk.refused,
                      disk.dropped_writes);
  text += fmt::format("  {:<22} {:>9.1f} MiB, and {:.1f} MiB again\n", "written",
                      mib(blocks.written_bytes), mib(blocks.rewritten_bytes));
}

uint64_t reads_of(const StoreUse& use) {
  return use.of(Purpose::kMetaRead).requests + use.of(Purpose::kDataRead).requests;
}

}  // namespace

std::string text_report(const RunConfig& config, const Outcome& outcome) {
  const uint64_t streams = config.workload.streams;
  std::string text = fmt::format("create {} streams of one {} B record, {}\n", streams,
                                 config.workload.record_bytes,
                                 config.workload.tenant_each ? "a tenant each" : "of one tenant");
  text += fmt::format("  {:<22} {:>9.0f} /s ({:.1f} s; then {:.1f} s until compactions ended)\n",
                      "rate", per_second(streams, outcome.create_seconds), outcome.create_seconds,
                      outcome.settle_seconds);
  text += fmt::format("  {:<22} {:>9.2f} bytes put / bytes accepted\n", "write amplification",
                      per(outcome.created.bytes_put(), outcome.bytes_accepted));
  add_store_use(text, outcome.created, outcome.bytes_accepted);
  text += "tables\n";
  for (const auto& [place, level] : outcome.levels) {
    text += fmt::format("  {} level {:<11} {:>9} tables {:>9.1f} MiB\n", to_string(place.first),
                        place.second, level.tables, mib(level.bytes));
  }
  text += "memory\n";
  add_memory(text, "before", outcome.idle, outcome.idle, streams);
  add_memory(text, "at rest", outcome.at_rest, outcome.idle, streams);
  add_memory(text, "after touches", outcome.after_touches, outcome.idle, streams);
  text +=
      fmt::format("touch {} streams at random: one append and one read each\n", outcome.touches);
  text += fmt::format("  {:<22} {:>9.0f} /s\n", "rate",
                      per_second(outcome.touches, outcome.touch_seconds));
  text += fmt::format("  {:<22} {:>9.2f} ms median, {:.2f} ms p99, {:.2f} ms largest\n", "latency",
                      milliseconds(outcome.touch_latency.percentile(0.5)),
                      milliseconds(outcome.touch_latency.percentile(0.99)),
                      milliseconds(outcome.touch_latency.largest()));
  text += fmt::format("  {:<22} {:>9.3f} meta reads, {:.3f} data reads, {:.4f} log puts\n",
                      "store, a touch",
                      per(outcome.touched.of(Purpose::kMetaRead).requests, outcome.touches),
                      per(outcome.touched.of(Purpose::kDataRead).requests, outcome.touches),
                      per(outcome.touched.of(Purpose::kLog).requests, outcome.touches));
  add_store_use(text, outcome.touched, outcome.touches * config.workload.record_bytes);
  if (outcome.disk.blocks.segments > 0) add_disk_cache(text, outcome);
  text += fmt::format("killed and started again\n  {:<22} {:>9.2f} s ({:.1f} MiB of log read)\n",
                      "until serving", outcome.restart_seconds, mib(outcome.replayed_bytes));
  if (outcome.touches_restarted > 0) {
    text += fmt::format("  {:<22} {:>9.3f} reads a touch, of {}\n", "then, from the store",
                        per(reads_of(outcome.touched_restarted), outcome.touches_restarted),
                        outcome.touches_restarted);
  }
  return text;
}

std::string json_report(const RunConfig& config, const Outcome& outcome) {
  std::string levels;
  for (const auto& [place, level] : outcome.levels) {
    levels += fmt::format(R"({}{{"tree":"{}","level":{},"tables":{},"bytes":{}}})",
                          levels.empty() ? "" : ",", to_string(place.first), place.second,
                          level.tables, level.bytes);
  }
  return fmt::format(
      R"({{"streams":{},"tenants":{},"record_bytes":{},"cache_bytes":{},)"
      R"("creates_per_second":{:.0f},)"
      R"("settle_seconds":{:.1f},"write_amplification":{:.3f},"resident_bytes_idle":{},)"
      R"("resident_bytes_at_rest":{},"resident_bytes_after_touches":{},"cached_bytes_at_rest":{},)"
      R"("levels":[{}],"touches":{},"touches_per_second":{:.0f},"touch_p50_ms":{:.3f},)"
      R"("touch_p99_ms":{:.3f},"meta_reads_per_touch":{:.4f},"data_reads_per_touch":{:.4f},)"
      R"("log_puts_per_touch":{:.5f},"restart_seconds":{:.3f}}})"
      "\n",
      config.workload.streams, config.workload.tenant_each ? config.workload.streams : 1,
      config.workload.record_bytes, config.instance.block_cache_bytes,
      per_second(config.workload.streams, outcome.create_seconds), outcome.settle_seconds,
      per(outcome.created.bytes_put(), outcome.bytes_accepted), outcome.idle.resident_bytes,
      outcome.at_rest.resident_bytes, outcome.after_touches.resident_bytes,
      outcome.at_rest.cache_bytes, levels, outcome.touches,
      per_second(outcome.touches, outcome.touch_seconds),
      milliseconds(outcome.touch_latency.percentile(0.5)),
      milliseconds(outcome.touch_latency.percentile(0.99)),
      per(outcome.touched.of(Purpose::kMetaRead).requests, outcome.touches),
      per(outcome.touched.of(Purpose::kDataRead).requests, outcome.touches),
      per(outcome.touched.of(Purpose::kLog).requests, outcome.touches), outcome.restart_seconds);
}

}  // namespace morula::density
