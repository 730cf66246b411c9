#include "prod/metrics/disk_cache_metrics.hpp"

namespace morula {

void collect_disk_cache_metrics(const DiskCache::Figures& figures, MetricFamilies& families) {
  const auto gauge = [&](const char* name, const char* help, uint64_t value) {
    families.push_back(gauge_family(name, help, static_cast<double>(value)));
  };
  const auto counter = [&](const char* name, const char* help, uint64_t value) {
    families.push_back(counter_family(name, help, static_cast<double>(value)));
  };
  gauge("morula_disk_cache_off", "1 after an error of the disk: the cache is not used any more",
        figures.errors);
  gauge("morula_disk_cache_bytes", "Bytes of the disk cache's files", figures.blocks.bytes);
  gauge("morula_disk_cache_blocks", "Blocks that can be read from it", figures.blocks.blocks);
  gauge("morula_disk_cache_index_bytes", "Memory that it takes to know where they are",
        figures.blocks.memory_bytes);
  counter("morula_disk_cache_hits_total", "Blocks that came from disk instead of the store",
          figures.hits);
  counter("morula_disk_cache_misses_total", "Blocks that were asked for and not on disk",
          figures.misses);
  counter("morula_disk_cache_late_reads_total",
          "Blocks that the disk did not give soon: read in the store", figures.late_reads);
  counter("morula_disk_cache_damaged_total", "Blocks that were damaged on disk: read in the store",
          figures.blocks.damaged + figures.refused);
  counter("morula_disk_cache_written_bytes_total", "Bytes of blocks written for the first time",
          figures.blocks.written_bytes);
  counter("morula_disk_cache_rewritten_bytes_total",
          "Bytes written again since their file made room", figures.blocks.rewritten_bytes);
  counter("morula_disk_cache_dropped_writes_total",
          "Blocks that were not written since the disk is slow", figures.dropped_writes);
}

}  // namespace morula
