#include "invariants/twin/said_steps.hpp"

#include "core/lsm/manifest_succession.hpp"

namespace morula::invariants::twin {

namespace {

/// As the event has it; what it does not tell in full is left out on both sides.
bool tells_position(Step step) {
  return step != Step::kHandOff && step != Step::kRenewLease;
}

bool tells_other(Step step) {
  return step != Step::kAdopt && step != Step::kHandOff;
}

}  // namespace

void SaidSteps::created(const std::string& key, const Manifest& manifest) {
  const auto from = open_from(manifest, manifest.writer);
  if (from) landed_.insert({manifest.writer.text(), Step::kAdopt, key, from->value, 0});
}

void SaidSteps::swapped(const std::string& key, Prefix shard, const Manifest& manifest) {
  const std::string by = manifest.writer.text();
  const uint64_t version = manifest.version.value;
  if (manifest.sealed) {
    landed_.insert({by, Step::kSeal, key, 0, version});
    return;
  }
  // A flush that moves no position looks like a compaction: the sender knows which it was.
  const auto from = open_from(manifest, manifest.writer);
  landed_.insert({by, Step::kFlush, shard.text(), from ? from->value : 0, version});
  landed_.insert({by, Step::kCompact, shard.text(), 0, version});
}

void SaidSteps::transferred(Step step, const IncarnationId& by, const RowChange& change,
                            Version version) {
  const TopologyShard& was = *change.gone.front();
  const TopologyShard& is = *change.come.front();
  const Prefix subject = step == Step::kSplit ? was.prefix : is.prefix;
  const bool has_position = tells_position(step);
  landed_.insert({by.text(), step, subject.text(), has_position ? is.epoch.value : 0,
                  step == Step::kPublish ? version.value : 0});
}

void SaidSteps::first(const Topology& topology) {
  for (const TopologyShard& row : topology.shards) {
    landed_.insert({topology.writer.text(), Step::kPublish, row.prefix.text(), row.epoch.value,
                    topology.version.value});
  }
}

void SaidSteps::renewed(const IncarnationId& by, Version version) {
  landed_.insert({by.text(), Step::kRenewLease, "", 0, version.value});
}

void SaidSteps::expired(const IncarnationId& by, const IncarnationId& victim, Version version) {
  landed_.insert({by.text(), Step::kExpire, victim.text(), 0, version.value});
}

void SaidSteps::said(const StepEvent& event) {
  const Landed said{std::string(event.actor), event.step, std::string(event.subject),
                    tells_position(event.step) ? event.position : 0,
                    tells_other(event.step) ? event.other : 0};
  if (landed_.erase(said) > 0) return;
  findings_.none(to_string(event.step),
                 std::string(event.actor) + " says that it has taken the step " +
                     std::string(to_string(event.step)) + " of " + std::string(event.subject) +
                     ", position " + std::to_string(event.position) + ", other " +
                     std::to_string(event.other) + ", but no such thing has landed");
}

}  // namespace morula::invariants::twin
