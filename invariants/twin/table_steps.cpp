#include "invariants/twin/table_steps.hpp"

#include <algorithm>

namespace morula::invariants::twin {

namespace {

using Action = spec::TopologyAction;

bool names(const Manifest& manifest, const std::string& table) {
  return std::ranges::find(manifest.tables, table, &ManifestTable::key) != manifest.tables.end();
}

}  // namespace

void TableSteps::collected(const SeenLog& writer, const std::string& key, CollectorId collector) {
  const bool owns = cell_.is_owner_to(collector, writer.id);
  const spec::Set<spec::ClippedTable> it{{1, {}}};
  spec::TopologyState state;
  state.join();
  state.join();
  state.of(1).fenced_at = writer.fences_counted.empty() ? -1 : 0;
  state.tables.push_back({{}, 1, true});
  cell_.each_named([&](const TopologyShard& row, const Manifest& named) {
    const bool owned = owns && row.owner == writer.id;
    if (!names(named, key) && !owned) return;
    state.manifests.push_back({0, false, names(named, key) ? it : decltype(it){}, {}, 0});
    const int number = static_cast<int>(state.manifests.size());
    state.rows.insert({{Prefix::kMaxLength, number}, 0, owned ? 1 : 2, number, {}});
  });
  for (const SentManifest& request : cell_.sent_manifests()) {
    if (request.by != writer.number || !names(*request.content, key)) continue;
    state.manifest_requests.insert({1, 0, 0, 0, it, {}});
  }
  for (const Action action : {Action::kCollectList, Action::kCollectReadTopology,
                              Action::kCollectReadManifests, Action::kCollect}) {
    const spec::Topology::Step step{.action = action};
    if (!findings_.can("Topology", twin_, state, step)) {
      return findings_.cannot("Topology", spec::Topology::describe(step), key + " was collected");
    }
    spec::TopologyState after = state;
    twin_.take(state, step, after);
    state = std::move(after);
  }
  if (!state.tables[0].exists) return;
  findings_.differs("Topology", spec::Topology::describe({.action = Action::kCollect}),
                    key + " was collected, which is named, or is part of a swap that can land");
}

}  // namespace morula::invariants::twin
