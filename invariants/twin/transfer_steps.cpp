#include "invariants/twin/transfer_steps.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/lsm/manifest_succession.hpp"
#include "invariants/spec/ownership_log.hpp"

namespace morula::invariants::twin {

namespace {

using Action = spec::TopologyAction;

constexpr std::string_view kSpec = "Topology";

spec::Topology::Constants topology_constants() {
  spec::Topology::Constants c;
  c.space_bits = Prefix::kMaxLength;
  return c;
}

std::string text(const std::vector<const TopologyShard*>& rows) {
  std::string out;
  for (const TopologyShard* row : rows) {
    if (!out.empty()) out += ", ";
    out += row->prefix.text() + " (epoch " + std::to_string(row->epoch.value) + ", owner " +
           row->owner.text() + ")";
  }
  return out;
}

/// The table may have rows of streams there.
bool reaches(const ManifestTable& table, Prefix part) {
  return table.tree == Tree::kIndex || table.streams.overlaps(KeyRange(part.first(), part.last()));
}

/// The step that its sender says when it knows.
morula::Step step_of(Action action) {
  switch (action) {
    case Action::kAdopt:
      return Step::kPublish;
    case Action::kHandOff:
      return Step::kHandOff;
    case Action::kSplit:
      return Step::kSplit;
    case Action::kMerge:
      return Step::kMerge;
    default:
      return Step::kReopen;
  }
}

}  // namespace

struct TransferSteps::Swap {
  const SeenLog& by;
  const Topology& now;
  const RowChange& change;
  Projection cell = {};
  Spec::Step step = {.action = Action::kReopen};
  std::vector<const Manifest*> gone = {};
  std::vector<const Manifest*> come = {};

  const TopologyShard& was() const { return *change.gone.front(); }
  const TopologyShard& is() const { return *change.come.front(); }
  std::string what() const {
    return by.id.text() + " swaps the topology on version " + std::to_string(now.version.value) +
           ": " + text(change.gone) + " -> " + text(change.come);
  }
  /// Of a handoff: where it ends what the giver had open. If nothing was in it, that is gone.
  uint64_t closed_at() const {
    uint64_t lowest = UINT64_MAX;
    for (const ManifestLog& log : gone.front()->logs) {
      if (log.incarnation != by.id || log.to) continue;
      lowest = std::min(lowest, log.from.value);
      for (const ManifestLog& next : come.front()->logs) {
        const bool same =
            next.incarnation == log.incarnation && next.clip == log.clip && next.from == log.from;
        if (same) return next.to ? next.to->value : by.landed;
      }
    }
    return lowest == UINT64_MAX ? by.landed : lowest;
  }
};

TransferSteps::TransferSteps(SeenCell& cell, Findings& findings, SaidSteps& said)
    : cell_(cell), findings_(findings), said_(said), twin_(topology_constants()), log_twin_({}) {}

void TransferSteps::creation_sent(const SeenLog& by, const std::string& key) {
  chosen_.try_emplace(key, Chosen{by.next_lowest(), by.next_highest()});
}

bool TransferSteps::name(Swap& swap) {
  const RowChange& change = swap.change;
  if (!change.same_space()) return false;
  const auto own = [&](const TopologyShard* row) { return row->owner == swap.by.id; };
  const bool own_before = std::ranges::all_of(change.gone, own);
  const bool own_after = std::ranges::all_of(change.come, own);
  swap.step.prefix = projected(swap.was().prefix);
  if (change.gone.size() == 1 && change.come.size() == 1) {
    swap.step.action = !own_before ? Action::kAdopt
                       : own_after ? Action::kReopen
                                   : Action::kHandOff;
    return own_before || own_after;
  }
  if (!own_before || !own_after) return false;
  const bool splits = change.gone.size() == 1 && change.come.size() == 2;
  const bool merges = change.gone.size() == 2 && change.come.size() == 1;
  swap.step.action = splits ? Action::kSplit : Action::kMerge;
  if (merges) swap.step.prefix = projected(swap.is().prefix);
  return splits || merges;
}

void TransferSteps::sent(SeenLog& by, const std::shared_ptr<const Topology>& next) {
  const Topology* now = cell_.topology();
  if (now == nullptr || next->version != now->version + 1) return;
  for (const SentTopology& request : cell_.sent_topologies()) {
    if (request.content->nonce == next->nonce) return;  // repeated
  }
  const std::vector<RowChange> changes = row_changes(*now, *next);
  std::set<IncarnationId> victims;
  SentTopology request{by.number, next, {}};
  for (const RowChange& change : changes) {
    check(by, *now, change);
    victims.insert(change.gone.front()->owner);
    for (const TopologyShard* row : change.gone) {
      const TopologyShard* after = next->find(row->prefix);
      if (row->owner == by.id && after != nullptr && after->owner != by.id) {
        request.given_away.push_back(row->prefix);
      }
    }
  }
  const bool adopts = victims.size() == 1 && !victims.contains(by.id);
  if (changes.size() != 1 && !adopts) {
    findings_.none(kSpec, by.id.text() + " swaps the topology on version " +
                              std::to_string(now->version.value) + " and changes " +
                              std::to_string(changes.size()) + " parts of the space");
  }
  cell_.sent(std::move(request));
}

void TransferSteps::check(const SeenLog& by, const Topology& now, const RowChange& change) {
  Swap swap{by, now, change};
  if (!name(swap)) return findings_.none(kSpec, swap.what());
  for (const TopologyShard* row : change.gone) swap.gone.push_back(cell_.manifest(row->manifest));
  for (const TopologyShard* row : change.come) swap.come.push_back(cell_.manifest(row->manifest));
  const auto missing = [](const Manifest* manifest) { return manifest == nullptr; };
  if (std::ranges::any_of(swap.gone, missing)) return;  // reported when it went
  if (std::ranges::any_of(swap.come, missing)) {
    return findings_.cannot(kSpec, Spec::describe(swap.step),
                            swap.what() + ", of which a manifest does not exist");
  }
  project(swap);
  if (swap.step.action == Action::kHandOff) check_giver(swap);
  const spec::TopologyState& before = swap.cell.state();
  if (!findings_.can(kSpec, twin_, before, swap.step)) {
    return findings_.cannot(kSpec, Spec::describe(swap.step), swap.what());
  }
  spec::TopologyState after = before;
  twin_.take(before, swap.step, after);
  compare(swap, after);
}

void TransferSteps::project(Swap& swap) {
  Projection& cell = swap.cell;
  for (const Manifest* manifest : swap.gone) cell.begins(*manifest);
  for (const Manifest* manifest : swap.come) cell.begins(*manifest);
  swap.step.incarnation = cell.incarnation(swap.by.id);
  if (swap.step.action == Action::kAdopt) project_taker(swap);
  if (swap.step.action == Action::kHandOff) project_giver(swap);
  for (size_t n = 0; n < swap.gone.size(); ++n) {
    const TopologyShard& row = *swap.change.gone[n];
    const int key = cell.add(*swap.gone[n]);
    cell.state().rows.insert(cell.row(row, key));
    const std::string* served = swap.by.served_key(row.prefix);
    if (served == nullptr || *served != row.manifest) continue;
    cell.state().of(swap.step.incarnation).serves.insert({projected(row.prefix), key});
  }
  if (swap.step.action != Action::kReopen) return;
  if (!cell_.waits_for_topology(swap.by.number, swap.was().prefix)) return;
  cell.state().topology_requests.insert(
      {swap.step.incarnation, 0, {projected(swap.was().prefix)}, false, {}});
}

/// Its own entry begins at its next seq, as far as that could be told when it put the manifest.
void TransferSteps::project_taker(Swap& swap) {
  Projection& cell = swap.cell;
  const SeenLog& taker = swap.by;
  const IncarnationId& victim = swap.was().owner;
  const std::map<int, uint64_t>& takers = cell_.log(victim).fenced_by;
  const auto fence = takers.find(taker.number);
  const auto from = open_from(*swap.come.front(), taker.id);
  const auto chosen = chosen_.find(swap.is().manifest);
  uint64_t next = taker.next_lowest();
  if (from && chosen != chosen_.end()) {
    next = std::clamp(from->value, chosen->second.lowest, chosen->second.highest);
  }
  cell.begins(taker.id, next);
  const int own = cell.incarnation(taker.id);
  const int left = cell.incarnation(victim);
  if (fence != takers.end()) {
    cell.begins(victim, fence->second);
    cell.state().of(left).fenced_at = cell.position(victim, fence->second);
  }
  cell.state().of(own).log.resize(static_cast<size_t>(cell.position(taker.id, next)));
}

/// It has sent nothing of the shard beyond where it closes its entry, which OwnershipLog checks.
void TransferSteps::project_giver(Swap& swap) {
  Projection& cell = swap.cell;
  const IncarnationId& to = swap.is().owner;
  const auto from = open_from(*swap.come.front(), to);
  const SeenPromise* promised = nullptr;
  for (const SeenPromise& promise : cell_.promises()) {
    if (promise.by != cell_.log(to).number || promise.shard != swap.was().prefix ||
        promise.base != swap.now.version) {
      continue;
    }
    if (promised == nullptr || (from && promise.position == from->value)) promised = &promise;
  }
  const uint64_t end = swap.closed_at();
  cell.begins(swap.by.id, end);
  if (promised != nullptr) cell.begins(to, promised->position);
  const int giver = swap.step.incarnation;
  const int receiver = cell.incarnation(to);
  cell.state().of(giver).log.resize(static_cast<size_t>(cell.position(swap.by.id, end)));
  if (promised == nullptr) return;
  cell.state().of(giver).handing = {true,     projected(swap.was().prefix),         1, 0,
                                    receiver, cell.position(to, promised->position)};
}

/// Closed at the acknowledged position, and nothing of the shard was sent beyond it.
void TransferSteps::check_giver(const Swap& swap) {
  using Step = spec::OwnershipLog::Step;
  const SeenLog& giver = swap.by;
  const uint64_t end = swap.closed_at();
  // One batch below the end, and one above it, of this shard if there is a record of it.
  const bool landed = end <= giver.landed;
  spec::OwnershipLogState state;
  state.incarnations.resize(2);
  spec::LogIncarnation& own = state.of(1);
  own.sent = {{2, 0, landed}};
  if (giver.has_record_at(swap.was().prefix, end)) own.sent.push_back({1, 0, false});
  own.handing = {spec::Handing::At::kStopped, 1, 2, 0, 1, 1};
  state.topology = {{0, 1, 1}};
  state.manifests = {{1, true, {}, {{1, 0, spec::kOpen}}}};
  state.promises = {{1, 2, 0, 0, true}};
  const Step step{.action = spec::OwnershipLogAction::kHandOff, .incarnation = 1};
  const std::string what = swap.what() + ", closed at seq " + std::to_string(end) + "; all below " +
                           std::to_string(giver.landed) + " has landed";
  const auto named = spec::OwnershipLog::describe(step);
  if (!findings_.can("OwnershipLog", log_twin_, state, step)) {
    return findings_.cannot("OwnershipLog", named,
                            what + ", and a record of the shard was given a later seq");
  }
  spec::OwnershipLogState after = state;
  log_twin_.take(state, step, after);
  if (!after.manifest(2).logs.contains({1, 0, 1})) {
    findings_.differs("OwnershipLog", named, what + ": that is not acknowledged");
  }
}

void TransferSteps::compare(Swap& swap, const spec::TopologyState& after) {
  const std::string step = Spec::describe(swap.step);
  const auto differs = [&](const std::string& what) {
    findings_.differs(kSpec, step, swap.what() + ": " + what);
  };
  for (size_t n = 0; n < swap.gone.size(); ++n) {
    if (swap.gone[n]->sealed) continue;
    differs(swap.change.gone[n]->manifest + " is not sealed, in the spec it is by then");
  }
  const spec::PrefixRequest& request = after.topology_requests.highest();
  for (size_t n = 0; n < swap.come.size(); ++n) {
    const TopologyShard& row = *swap.change.come[n];
    const spec::PrefixRow found = swap.cell.row(row, 0);
    const auto same = [&](const spec::PrefixRow& add) { return add.prefix == found.prefix; };
    const auto add = std::find_if(request.adds.begin(), request.adds.end(), same);
    if (add == request.adds.end()) {
      differs("the spec has no row " + row.prefix.text());
      continue;
    }
    if (found.epoch != add->epoch) differs("the epoch is to be " + std::to_string(add->epoch));
    if (found.owner != add->owner) differs("it has another owner");
    if (found.logs != add->logs) differs("the row's logs are not those that its manifest names");
    spec::ClippedManifest expected = after.manifest(add->key);
    const spec::ClippedManifest manifest = swap.cell.manifest(*swap.come[n]);
    if (swap.step.action == Action::kSplit) drop_unreached(swap, row.prefix, manifest, expected);
    const std::string difference = twin::difference(manifest, expected);
    if (!difference.empty()) differs("of " + row.manifest + ": " + difference);
  }
}

/// Tables that have no stream in the half need not be named.
void TransferSteps::drop_unreached(Swap& swap, Prefix half, const spec::ClippedManifest& found,
                                   spec::ClippedManifest& expected) {
  for (const ManifestTable& table : swap.gone.front()->tables) {
    if (!table.clip.overlaps(half) || reaches(table, half)) continue;
    const Prefix clip = table.clip.length < half.length ? half : table.clip;
    const spec::ClippedTable entry{swap.cell.table(table.key), projected(clip)};
    if (!found.tables.contains(entry)) expected.tables.erase(entry);
  }
}

void TransferSteps::landed(const std::shared_ptr<const Topology>& now) {
  const Topology* before = cell_.topology();
  if (before != nullptr) {
    spec::TopologyState state;
    state.version = static_cast<int>(before->version.value);
    state.topology_requests.insert({1, static_cast<int>(now->version.value) - 1, {}, false, {}});
    const Spec::Step step{.action = Action::kPublish};
    if (!findings_.can(kSpec, twin_, state, step)) {
      findings_.cannot(kSpec, Spec::describe(step),
                       "version " + std::to_string(now->version.value) + " by " +
                           now->writer.text() + " has landed on version " +
                           std::to_string(before->version.value));
    }
    for (const RowChange& change : row_changes(*before, *now)) {
      Swap swap{cell_.log(now->writer), *before, change};
      if (name(swap))
        said_.transferred(step_of(swap.step.action), now->writer, change, now->version);
    }
  } else {
    said_.first(*now);
  }
  cell_.landed(now);
}

}  // namespace morula::invariants::twin
