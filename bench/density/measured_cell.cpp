#include "bench/density/measured_cell.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/shard/manifest_document.hpp"
#include "core/store/keys.hpp"
#include "core/topology/topology_document.hpp"

namespace morula::density {

namespace {

constexpr Duration kReadyPoll = std::chrono::milliseconds(1);

}  // namespace

void TroubleTrace::log(Severity severity, std::string_view event, std::initializer_list<LogField>) {
  if (severity < Severity::kWarning) return;
  std::fprintf(stderr, "\n%.*s\n", static_cast<int>(event.size()), event.data());
}

MeasuredCell::MeasuredCell(const std::string& directory, InstanceConfig config)
    : config_(std::move(config)) {
  config_.shard.held_log_objects_max = defaults_of("file:").flush_objects;
  if (!directory.empty()) {
    auto opened =
        open_store(loop_, trace_, StoreOptions{"file:" + directory, {}}, StoreAccess::kServe);
    if (!opened) {
      std::fprintf(stderr, "bench_density: %s\n", opened.error().message.c_str());
      std::exit(1);
    }
    directory_ = std::move(opened->store);
  }
  store_ = std::make_unique<ObservedStore>(directory_ ? *directory_ : memory_, loop_,
                                           std::vector<StoreObserver*>{&counts_});
  env_.emplace(Env{loop_.domain(), loop_, network_, *store_, random_, compute_, platform_, trace_});
}

void MeasuredCell::serve_until_killed(const std::function<void()>& body) {
  platform_.next_process();
  const Time begun = loop_.now();
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
