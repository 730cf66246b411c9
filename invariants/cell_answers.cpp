#include "invariants/cell_answers.hpp"

#include <algorithm>

namespace morula::invariants {

namespace {

/// Whether `topology` is as `step` wants it.
bool is_as_wanted(const Topology& topology, const CellStep& step) {
  const TopologyShard* row = topology.find(step.prefix);
  switch (step.kind) {
    case CellStep::Kind::kSplit:  // halves may have been divided on
      return std::ranges::none_of(topology.shards, [&](const TopologyShard& shard) {
        return shard.prefix.contains(step.prefix);
      });
    case CellStep::Kind::kMerge:
      return row != nullptr;
    case CellStep::Kind::kMove:
      return row != nullptr && row->owner.name == step.to;
  }
  return false;
}

const IncarnationId& owner(const Topology& topology, const CellStep& step) {
  return topology.find(step.prefix)->owner;
}

}  // namespace

void CellAnswers::written(Topology topology) {
  const Version version = topology.version;
  topologies_.insert_or_assign(version, std::move(topology));
}

Version CellAnswers::latest() const {
  return topologies_.empty() ? Version(0) : topologies_.rbegin()->first;
}

std::string CellAnswers::wrong_with(const CellStep& step, const Changed& answer,
                                    Version asked_at) const {
  const HttpRequest request = step_request(step);
  const std::string said = request.target + " " + request.body + " was answered with version " +
                           std::to_string(answer.topology.value) + " of the topology";
  const auto named = topologies_.find(answer.topology);
  if (named == topologies_.end()) return said + ", which there never was";
  if (!is_as_wanted(named->second, step)) return said + ", which is not so";
  if (!answer.changed) return {};
  for (auto at = topologies_.lower_bound(asked_at); at != topologies_.end() && at != named; ++at) {
    if (!is_as_wanted(at->second, step)) return {};
    // An instance is another after each start.
    if (step.kind == CellStep::Kind::kMove &&
        owner(at->second, step) != owner(named->second, step)) {
      return {};
    }
  }
  return said + " as if it had not been so before";
}

}  // namespace morula::invariants
