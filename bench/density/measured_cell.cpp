#include "bench/density/measured_cell.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/shard/manifest_document.hpp"
#include "core/store/keys.hpp"
#include "core/topology/topology_document.hpp"

namespace morula::density {

namespace {

constexpr Duration kReadyPoll = std::chrono::milliseconds(1);

[[noreturn]] void fail_with(const Error& error) {
  std::fprintf(stderr, "bench_density: %s\n", error.message.c_str());
  std::exit(1);
}

}  // namespace

void TroubleTrace::log(Severity severity, std::string_view event, std::initializer_list<LogField>) {
  if (severity < Severity::kWarning) return;
  std::fprintf(stderr, "\n%.*s\n", static_cast<int>(event.size()), event.data());
}

void MeasuredCell::open_disk_cache() {
  auto opened = DiskCache::open(loop_, trace_, *disk_cache_place_);
  if (!opened) fail_with(opened.error());
  disk_cache_ = *std::move(opened);
  config_.second_tier = disk_cache_.get();
}

MeasuredCell::MeasuredCell(const std::string& directory, const std::string& disk_cache,
                           InstanceConfig config)
    : config_(std::move(config)) {
  config_.shard.held_log_objects_max = defaults_of("file:").flush_objects;
  if (!disk_cache.empty()) {
    const auto place = DiskCachePlace::parse(disk_cache);
    if (!place) fail_with(place.error());
    disk_cache_place_ = *place;
  }
  if (!directory.empty()) {
    auto opened =
        open_store(loop_, trace_, StoreOptions{"file:" + directory, {}}, StoreAccess::kServe);
    if (!opened) fail_with(opened.error());
    directory_ = std::move(opened->store);
  }
  store_ = std::make_unique<ObservedStore>(directory_ ? *directory_ : memory_, loop_,
                                           std::vector<StoreObserver*>{&counts_});
  env_.emplace(Env{loop_.domain(), loop_, network_, *store_, random_, compute_, platform_, trace_});
}

void MeasuredCell::serve_until_killed(const std::function<void()>& body) {
  platform_.next_process();
  const Time begun = loop_.now();
  if (disk_cache_place_) open_disk_cache();
  instance_ = std::make_unique<Instance>(*env_, config_, memory_budget_);
  with_scope(loop_.domain(), [&](Scope& scope) {
    scope.spawn("instance", [this] {
      const auto ended = instance_->run();
      std::fprintf(stderr, "bench_density: the instance ended by itself%s%s\n", ended ? "" : ": ",
                   ended ? "" : ended.error().message.c_str());
      std::exit(1);
    });
    while (!instance_->ready()) loop_.sleep(kReadyPoll);
    until_serving_ = loop_.now() - begun;
    body();
  });
  instance_.reset();
  disk_cache_.reset();
}

std::map<std::pair<Tree, uint32_t>, MeasuredCell::Level> MeasuredCell::levels() {
  std::map<std::pair<Tree, uint32_t>, Level> levels;
  const auto topology = read_topology(*env_, {});
  if (!topology || !*topology) return levels;
  for (const TopologyShard& shard : (*topology)->content.shards) {
    const auto manifest = read_manifest(*env_, shard.manifest, {});
    if (!manifest) continue;
    for (const ManifestTable& table : manifest->content.tables) {
      Level& level = levels[{table.tree, table.level}];
      ++level.tables;
      level.bytes += table.bytes;
    }
  }
  return levels;
}

}  // namespace morula::density
