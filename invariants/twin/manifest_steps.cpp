#include "invariants/twin/manifest_steps.hpp"

#include <algorithm>
#include <climits>

namespace morula::invariants::twin {

namespace {

using LogAction = spec::OwnershipLogAction;
using Action = spec::TopologyAction;

constexpr std::string_view kLogSpec = "OwnershipLog";
constexpr std::string_view kSpec = "Topology";

spec::Topology::Constants one_point() {
  spec::Topology::Constants c;
  c.space_bits = 0;
  return c;
}

int position(uint64_t seq, uint64_t base) {
  return seq <= base ? 0 : static_cast<int>(seq - base);
}

/// Within the shard, which is the whole space of the projection.
spec::HashPrefix within(Prefix shard, Prefix clip) {
  if (!shard.contains(clip)) return {};
  const int deeper = clip.length - shard.length;
  return {deeper, clip.bits & ((1 << deeper) - 1)};
}

/// The lowest `from` that it has open; nullptr: none.
const ManifestLog* open_entry(const Manifest& manifest, const IncarnationId& owner) {
  const ManifestLog* lowest = nullptr;
  for (const ManifestLog& log : manifest.logs) {
    if (log.incarnation != owner || log.to) continue;
    if (lowest == nullptr || log.from < lowest->from) lowest = &log;
  }
  return lowest;
}

bool same_rows(const Manifest& a, const Manifest& b) {
  return a.logs == b.logs && a.tables == b.tables && a.mark == b.mark;
}

}  // namespace

ManifestSteps::ManifestSteps(SeenCell& cell, Findings& findings, SaidSteps& said)
    : cell_(cell), findings_(findings), said_(said), log_twin_({}), twin_(one_point()) {}

std::string ManifestSteps::Swap::what() const {
  std::string text = by.id.text() + " swaps " + row.manifest + " of shard " + row.prefix.text() +
                     " on version " + std::to_string(now.version.value);
  if (now.sealed) text += ", which is sealed";
  if (row.owner != by.id) text += ", which is " + row.owner.text() + "'s";
  return text;
}

void ManifestSteps::sent(SeenLog& by, const std::string& key,
                         const std::shared_ptr<const Manifest>& next) {
  const Manifest* now = cell_.manifest(key);
  if (now == nullptr || next->version != now->version + 1) return;
  for (const SentManifest& request : cell_.sent_manifests()) {
    if (request.content == next) return;  // repeated
  }
  if (cell_.topology() != nullptr) {
    const auto& rows = cell_.topology()->shards;
    const auto row = std::ranges::find(rows, key, &TopologyShard::manifest);
    if (row != rows.end()) {
      const Swap swap{by, *row, *now, *next};
      if (next->sealed) {
        Seal(swap);
      } else if (next->logs != now->logs) {
        Flush(swap);
      } else {
        Compact(swap);
      }
    }
  }
  cell_.sent({by.number, key, next});
}

/// By its owner, before a transfer; or by who has fenced the owner.
void ManifestSteps::Seal(const Swap& swap) {
  spec::OwnershipLogState state;
  state.incarnations.resize(2);
  state.topology = {{0, 1, 1}};
  state.manifests = {{0, swap.now.sealed, {}, {}}};
  spec::OwnershipLog::Step step;
  if (swap.row.owner == swap.by.id) {
    step = {.action = LogAction::kHandSeal, .incarnation = 1};
    state.of(1).handing = {spec::Handing::At::kAsked, 1, 2, 0, 1, 1};
  } else {
    step = {.action = LogAction::kSeal, .incarnation = 2};
    spec::Taking& taking = state.of(2).taking;
    const bool fenced = cell_.log(swap.row.owner).fenced_by.contains(swap.by.number);
    taking.at = fenced ? spec::Taking::At::kSeal : spec::Taking::At::kList;
    taking.from = 1;
    taking.rows = {{1, 1}};
    taking.to_seal = {1};
  }
  if (!findings_.can(kLogSpec, log_twin_, state, step)) {
    findings_.cannot(kLogSpec, spec::OwnershipLog::describe(step),
                     swap.what() + ", and has not fenced its owner");
  }
  if (!same_rows(swap.now, swap.next)) {
    findings_.differs(kLogSpec, spec::OwnershipLog::describe(step),
                      swap.what() + ", and changes more than the seal");
  }
}

void ManifestSteps::Flush(const Swap& swap) {
  const ManifestLog* open = open_entry(swap.now, swap.by.id);
  const ManifestLog* next = open_entry(swap.next, swap.by.id);
  const uint64_t from = next == nullptr ? 0 : next->from.value;
  // Acknowledged when the position was taken: no less than it is, and no more than the manifest
  // says that it was.
  const uint64_t least = std::max(from, open == nullptr ? 0 : open->from.value);
  const uint64_t acknowledged = std::min(swap.by.landed, least);
  const uint64_t base = acknowledged == 0 ? 0 : acknowledged - 1;
  spec::OwnershipLogState state;
  state.incarnations.resize(2);
  if (acknowledged > 0) state.of(1).sent = {{1, 0, true}};
  for (spec::LogIncarnation& i : state.incarnations) i.serves = {0};
  state.topology = {{0, 1, 1}};
  const auto entries = [&](const Manifest& manifest) {
    spec::Set<spec::LogEntry> logs;
    for (const ManifestLog& log : manifest.logs) {
      const int to = log.to ? position(log.to->value, base) : spec::kOpen;
      const bool own = log.incarnation == swap.by.id;
      logs.insert({own ? 1 : 2, own ? position(log.from.value, base) : 0, own ? to : 1});
    }
    return logs;
  };
  state.manifests = {{0, swap.now.sealed, {}, entries(swap.now)}};
  const std::string* served = swap.by.served_key(swap.row.prefix);
  if (served != nullptr && *served == swap.row.manifest) state.serve(1, 1, 1);
  const spec::OwnershipLog::Step step{.action = LogAction::kFlush, .incarnation = 1, .shard = 1};
  const std::string what = swap.what() + ", to begin at seq " + std::to_string(from) +
                           "; all below " + std::to_string(swap.by.landed) + " has landed";
  // The spec does nothing if nothing was acknowledged since; the code may replace several entries
  // by one there.
  const spec::Set<spec::LogEntry> logs = entries(swap.next);
  if (state.manifests[0].logs != logs || from != least) {
    if (!findings_.can(kLogSpec, log_twin_, state, step)) {
      return findings_.cannot(kLogSpec, spec::OwnershipLog::describe(step), what);
    }
    spec::OwnershipLogState after = state;
    log_twin_.take(state, step, after);
    if (after.manifest_requests.at(0).logs != logs) {
      return findings_.differs(kLogSpec, spec::OwnershipLog::describe(step),
                               what + ": it is to name one range, open from what is acknowledged");
    }
  }
  flush_tables(swap);
}

/// The shard and its owner, as incarnation 1.
spec::TopologyState ManifestSteps::project(const Swap& swap, uint64_t base) const {
  spec::TopologyState state;
  state.last.resize(1);
  state.join();
  state.join();
  spec::ClippedManifest manifest{0, swap.now.sealed, {}, {}, 0};
  manifest.mark = static_cast<int>(std::min<uint64_t>(swap.now.mark.value, INT_MAX));
  for (const ManifestLog& log : swap.now.logs) {
    const bool own = log.incarnation == swap.by.id;
    const int to = log.to ? position(log.to->value, base) : spec::kOpen;
    manifest.logs.insert({own ? spec::HashPrefix{} : within(swap.row.prefix, log.clip), own ? 1 : 2,
                          own ? position(log.from.value, base) : 0, own ? to : 1});
  }
  state.manifests.push_back(std::move(manifest));
  state.rows.insert({{}, 0, swap.row.owner == swap.by.id ? 1 : 2, 1, {}});
  const std::string* served = swap.by.served_key(swap.row.prefix);
  if (served != nullptr && *served == swap.row.manifest) state.of(1).serves.insert({{}, 1});
  if (cell_.waits_for_topology(swap.by.number, swap.row.prefix)) {
    state.topology_requests.insert({1, 0, {spec::HashPrefix{}}, false, {}});
  }
  return state;
}

/// All tables stay named, and new ones count for the shard alone.
void ManifestSteps::flush_tables(const Swap& swap) {
  const ManifestLog* open = open_entry(swap.now, swap.by.id);
  const ManifestLog* next = open_entry(swap.next, swap.by.id);
  if (open == nullptr || next == nullptr || next->from <= open->from) return;
  spec::TopologyState state = project(swap, next->from.value - 1);
  state.of(1).log.resize(1);
  compare(swap, {.action = Action::kFlush, .incarnation = 1}, state);
}

void ManifestSteps::Compact(const Swap& swap) {
  spec::TopologyState state = project(swap, 0);
  state.of(1).log.resize(1);
  // A record in the tables to be merged.
  state.tables.push_back({{{1, 0}}, 1, true});
  state.manifests[0].tables.insert({1, {}});
  const bool merges = std::ranges::any_of(swap.now.tables, [&](const ManifestTable& table) {
    return std::ranges::find(swap.next.tables, table) == swap.next.tables.end();
  });
  if (!merges) return;  // a flush that moves no position
  compare(swap, {.action = Action::kCompact, .incarnation = 1, .tables = {{1, {}}}}, state);
}

void ManifestSteps::compare(const Swap& swap, const spec::Topology::Step& step,
                            const spec::TopologyState& before) {
  const std::string named = spec::Topology::describe(step);
  if (!findings_.can(kSpec, twin_, before, step))
    return findings_.cannot(kSpec, named, swap.what());
  spec::TopologyState after = before;
  twin_.take(before, step, after);
  const spec::ClippedManifestRequest& sent = after.manifest_requests.at(0);
  const auto differs = [&](const std::string& what) {
    findings_.differs(kSpec, named, swap.what() + ": " + what);
  };
  for (const ManifestTable& table : swap.now.tables) {
    const bool stays = std::ranges::find(swap.next.tables, table) != swap.next.tables.end();
    if (!stays && step.action == Action::kFlush) differs("it forgets " + table.key);
  }
  for (const ManifestTable& table : swap.next.tables) {
    const bool is_new =
        std::ranges::find(swap.now.tables, table.key, &ManifestTable::key) == swap.now.tables.end();
    if (is_new && table.clip != swap.row.prefix) {
      differs("the new table " + table.key + " counts for " + table.clip.text());
    }
  }
  if (swap.next.mark.value < static_cast<uint64_t>(sent.mark)) differs("it lowers the mark");
}

void ManifestSteps::landed(const std::string& key, Prefix shard,
                           const std::shared_ptr<const Manifest>& now) {
  if (const Manifest* before = cell_.manifest(key); before != nullptr && !now->sealed) {
    spec::OwnershipLogState state;
    state.incarnations.resize(1);
    state.manifests = {{static_cast<int>(before->version.value), before->sealed, {}, {}}};
    state.manifest_requests.insert({1, 1, static_cast<int>(now->version.value) - 1, 1, {}, {}});
    const spec::OwnershipLog::Step step{.action = LogAction::kLandManifest};
    if (!findings_.can(kLogSpec, log_twin_, state, step)) {
      findings_.cannot(kLogSpec, spec::OwnershipLog::describe(step),
                       "version " + std::to_string(now->version.value) + " of " + key +
                           " has landed on version " + std::to_string(before->version.value) +
                           (before->sealed ? ", which is sealed" : ""));
    }
  }
  if (cell_.manifest(key) == nullptr) {
    said_.created(key, *now);
  } else {
    said_.swapped(key, shard, *now);
  }
  cell_.landed(key, now);
}

}  // namespace morula::invariants::twin
