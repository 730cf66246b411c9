#include "invariants/topology_steps.hpp"

#include <algorithm>
#include <bitset>
#include <set>
#include <tuple>

namespace morula::invariants {

namespace {

Prefix innermost(Prefix a, Prefix b) {
  return a.length < b.length ? b : a;
}

/// What manifests name, by the smallest parts of the hash space: two sets of entries that name the
/// same are equal, however their clips divide it.
template <class Name>
class Named {
 public:
  void add(Name name, Prefix clip) {
    const uint64_t width = uint64_t{1} << (Prefix::kMaxLength - clip.length);
    Slots& slots = slots_[std::move(name)];
    for (uint64_t i = 0; i < width; ++i) slots.set(clip.bits * width + i);
  }
  /// What this has and `other` hasn't; nullopt: nothing.
  std::optional<Name> beyond(const Named& other) const {
    for (const auto& [name, slots] : slots_) {
      const auto found = other.slots_.find(name);
      const bool has = found != other.slots_.end() && (slots & ~found->second).none();
      if (!has) return name;
    }
    return std::nullopt;
  }

 private:
  using Slots = std::bitset<size_t{1} << Prefix::kMaxLength>;
  std::map<Name, Slots> slots_;
};

using LogRange = std::tuple<std::string, LogSeq, std::optional<LogSeq>>;

std::string text(const LogRange& range) {
  const auto& [incarnation, from, to] = range;
  return incarnation + " [" + std::to_string(from.value) + ", " +
         (to ? std::to_string(to->value) : std::string("open")) + ")";
}

/// The table may have rows of streams there.
bool reaches(const ManifestTable& table, Prefix part) {
  return table.clip.overlaps(part) && (table.tree == Tree::kIndex ||
                                       table.streams.overlaps(KeyRange(part.first(), part.last())));
}

}  // namespace

std::string_view TopologySteps::name(const RowChange& change, const IncarnationId& writer) const {
  if (!change.same_space()) return {};
  const TopologyShard& was = *change.gone.front();
  const TopologyShard& is = *change.come.front();
  const auto owned = [&](const TopologyShard* row) { return row->owner == writer; };
  const bool own_before = std::ranges::all_of(change.gone, owned);
  const bool own_after = std::ranges::all_of(change.come, owned);
  Epoch highest{};
  for (const TopologyShard* row : change.gone) highest = std::max(highest, row->epoch);
  const bool raised = std::ranges::all_of(
      change.come, [&](const TopologyShard* row) { return row->epoch == highest + 1; });
  if (!raised) return {};
  if (change.gone.size() == 1 && change.come.size() == 1) {
    if (was.prefix != is.prefix || was.manifest == is.manifest) return {};
    if (own_before) return own_after ? "Reopen" : "HandOff";
    return own_after ? "Publish" : std::string_view();
  }
  if (!own_before || !own_after) return {};
  if (change.gone.size() == 1 && change.come.size() == 2) {
    return is.prefix == was.prefix.child(false) ? "Split" : std::string_view();
  }
  if (change.gone.size() == 2 && change.come.size() == 1) {
    return was.prefix == is.prefix.child(false) ? "Merge" : std::string_view();
  }
  return {};
}

void TopologySteps::step(const Topology& before, const Topology& after, Duration now) {
  version_ = after.version.value;
  if (after.version != before.version + 1) {
    report(now, "a step", "does not follow version " + std::to_string(before.version.value));
    return;
  }
  const std::vector<RowChange> all = row_changes(before, after);
  std::set<std::string_view> names;
  std::set<IncarnationId> victims;
  for (const RowChange& change : all) {
    const std::string_view step = name(change, after.writer);
    if (step.empty()) {
      report(now, "a step",
             "by " + after.writer.text() +
                 " that the protocol does not have: " + std::to_string(change.gone.size()) +
                 " rows from " + change.gone.front()->prefix.text() + " (epoch " +
                 std::to_string(change.gone.front()->epoch.value) + ") to " +
                 std::to_string(change.come.size()) + " (epoch " +
                 std::to_string(change.come.front()->epoch.value) + ")");
      return;
    }
    ++taken_[std::string(step)];
    names.insert(step);
    victims.insert(change.gone.front()->owner);
    check_effects(change, step, now);
  }
  const bool one =
      all.size() == 1 || (names == std::set<std::string_view>{"Publish"} && victims.size() == 1);
  if (!one) {
    report(now, all.empty() ? "nothing" : "several steps", "is changed in one version");
  }
}

struct TopologySteps::Rows {
  Named<std::string> tables;
  Named<LogRange> logs;
  Generation mark{};  // of what goes: the highest; of what comes: the lowest
};

/// nullopt: a manifest can't be read.
std::optional<TopologySteps::Rows> TopologySteps::rows_after(const RowChange& change,
                                                             std::string_view step, Duration now) {
  Rows rows;
  rows.mark = Generation(UINT64_MAX);
  for (const TopologyShard* row : change.come) {
    const auto manifest = find_manifest_(row->manifest);
    if (!manifest) return std::nullopt;
    const auto beyond = [&](Prefix clip, const std::string& what) {
      if (row->prefix.contains(clip)) return;
      report(now, step,
             "names in " + row->manifest + " what lies beyond its shard: " + what + ", clip " +
                 clip.text());
    };
    bool has_place = false;
    for (const ManifestLog& log : manifest->logs) {
      const LogRange range{log.incarnation.text(), log.from, log.to};
      beyond(log.clip, text(range));
      has_place |= log.incarnation == row->owner && !log.to;
      rows.logs.add(range, innermost(log.clip, row->prefix));
    }
    for (const ManifestTable& table : manifest->tables) {
      beyond(table.clip, table.key);
      rows.tables.add(table.key, innermost(table.clip, row->prefix));
    }
    if (!has_place) report(now, step, "names no log of the owner in " + row->manifest);
    if (manifest->sealed) report(now, step, "names " + row->manifest + ", which is sealed");
    rows.mark = std::min(rows.mark, manifest->mark);
  }
  return rows;
}

/// As it has to be afterwards: of an owner that is left, open ranges end somewhere.
std::optional<TopologySteps::Rows> TopologySteps::rows_before(const RowChange& change) const {
  Rows rows;
  for (const TopologyShard* row : change.gone) {
    const auto manifest = find_manifest_(row->manifest);
    if (!manifest) return std::nullopt;
    rows.mark = std::max(rows.mark, manifest->mark);
    for (const TopologyShard* next : change.come) {
      if (!next->prefix.overlaps(row->prefix)) continue;
      const Prefix part = innermost(row->prefix, next->prefix);
      for (const ManifestTable& table : manifest->tables) {
        if (reaches(table, part)) rows.tables.add(table.key, innermost(table.clip, part));
      }
      for (const ManifestLog& log : manifest->logs) {
        const bool left = log.incarnation == row->owner && !log.to && row->owner != next->owner;
        if (left || !log.clip.overlaps(part)) continue;
        rows.logs.add({log.incarnation.text(), log.from, log.to}, innermost(log.clip, part));
      }
    }
  }
  return rows;
}

void TopologySteps::check_effects(const RowChange& change, std::string_view step, Duration now) {
  const auto before = rows_before(change);
  const auto after = rows_after(change, step, now);
  if (!before || !after) return;
  if (const auto lost = before->tables.beyond(after->tables)) {
    report(now, step, "forgets table " + *lost + ", or a part of it");
  }
  if (const auto more = after->tables.beyond(before->tables)) {
    report(now, step, "names more of table " + *more + " than was named");
  }
  if (const auto lost = before->logs.beyond(after->logs)) {
    report(now, step, "forgets log range " + text(*lost) + ", or a part of it");
  }
  if (after->mark < before->mark) report(now, step, "lowers the mark of generations");
  check_closed(change, step, now);
}

/// What the last owner had open is closed, at one place for all, unless nothing was in it.
void TopologySteps::check_closed(const RowChange& change, std::string_view step, Duration now) {
  const TopologyShard& was = *change.gone.front();
  const TopologyShard& is = *change.come.front();
  if (was.owner == is.owner) return;
  const auto before = find_manifest_(was.manifest);
  const auto after = find_manifest_(is.manifest);
  if (!before || !after) return;
  for (const ManifestLog& log : before->logs) {
    if (log.incarnation != was.owner || log.to) continue;
    const auto same = std::ranges::find_if(after->logs, [&](const ManifestLog& next) {
      return next.incarnation == log.incarnation && next.from == log.from && next.clip == log.clip;
    });
    if (same != after->logs.end() && !same->to) {
      report(now, step, "leaves the log of " + was.owner.text() + " open in " + is.manifest);
    }
  }
}

void TopologySteps::report(Duration now, std::string_view step, const std::string& what) {
  violations_.report(
      Invariant::kOwnershipRule, now,
      "topology version " + std::to_string(version_) + ": " + std::string(step) + " " + what);
}

}  // namespace morula::invariants
