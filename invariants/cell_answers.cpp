#include "invariants/cell_answers.hpp"

#include <algorithm>
#include <iterator>

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

}  // namespace

void CellAnswers::written(Topology topology) {
  const Version version = topology.version;
  topologies_.insert_or_assign(version, std::move(topology));
}

std::string CellAnswers::wrong_with(const CellStep& step, const Changed& answer) const {
  const HttpRequest request = step_request(step);
  const std::string said = request.target + " " + request.body + " was answered with version " +
                           std::to_string(answer.topology.value) + " of the topology";
  const auto named = topologies_.find(answer.topology);
  if (named == topologies_.end()) return said + ", which there never was";
  if (!is_as_wanted(named->second, step)) return said + ", which is not so";
  if (!answer.changed || named == topologies_.begin()) return {};
  const bool was_so = is_as_wanted(std::prev(named)->second, step);
  return was_so ? said + " as if it had not been so before" : "";
}

}  // namespace morula::invariants
