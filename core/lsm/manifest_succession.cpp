#include "core/lsm/manifest_succession.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"

namespace morula {

namespace {

/// Both overlap: the smaller one lies within the other.
Prefix smaller(Prefix a, Prefix b) {
  return a.length < b.length ? b : a;
}

/// Whether the table can have rows of streams in `part`. Of the index only its rows tell.
bool may_have(const ManifestTable& table, Prefix part) {
  if (!table.clip.overlaps(part)) return false;
  return table.tree == Tree::kIndex || table.streams.overlaps(KeyRange(part.first(), part.last()));
}

/// Entries of one table for the two halves of a prefix become one. Repeats, as that may have a
/// sibling, too.
void join_halves(std::vector<ManifestTable>& tables) {
  for (size_t i = 0; i < tables.size();) {
    ManifestTable& table = tables[i];
    const auto other = std::find_if(
        tables.begin() + static_cast<ptrdiff_t>(i) + 1, tables.end(), [&](const ManifestTable& t) {
          return t.key == table.key && table.clip.length > 0 && t.clip == table.clip.sibling();
        });
    if (other == tables.end()) {
      ++i;
      continue;
    }
    table.clip = table.clip.parent();
    tables.erase(other);
    i = 0;
  }
}

}  // namespace

Manifest unsealed(Manifest sealed) {
  sealed.version = Version(0);
  sealed.sealed = false;
  return sealed;
}

Manifest narrowed(const Manifest& sealed, Prefix child) {
  Manifest part = unsealed(sealed);
  std::erase_if(part.tables, [&](const ManifestTable& table) { return !may_have(table, child); });
  std::erase_if(part.logs, [&](const ManifestLog& log) { return !log.clip.overlaps(child); });
  if (mutated(Mutant::child_clip_wrong)) return part;
  for (ManifestTable& table : part.tables) table.clip = smaller(table.clip, child);
  for (ManifestLog& log : part.logs) log.clip = smaller(log.clip, child);
  return part;
}

Manifest merged(const Manifest& low, const Manifest& high) {
  Manifest whole = unsealed(low);
  whole.tables.insert(whole.tables.end(), high.tables.begin(), high.tables.end());
  if (!mutated(Mutant::merge_forgets_log_range)) {
    whole.logs.insert(whole.logs.end(), high.logs.begin(), high.logs.end());
  }
  if (mutated(Mutant::merge_widens_clip)) {
    for (ManifestTable& table : whole.tables) table.clip = table.clip.parent();
  }
  join_halves(whole.tables);
  whole.mark = std::max(low.mark, high.mark);
  whole.wall_floor = std::max(low.wall_floor, high.wall_floor);
  return whole;
}

void close_logs(Manifest& manifest, const IncarnationId& incarnation, LogSeq to) {
  for (ManifestLog& log : manifest.logs) {
    if (log.incarnation == incarnation && !log.to) log.to = std::max(log.from, to);
  }
  std::erase_if(manifest.logs,
                [](const ManifestLog& log) { return log.to && *log.to <= log.from; });
}

Manifest handed_over(const Manifest& sealed, Prefix prefix, const IncarnationId& owner, LogSeq to,
                     const IncarnationId& next_owner, LogSeq from) {
  Manifest manifest = unsealed(sealed);
  if (!mutated(Mutant::two_owners_replay_same_open_range)) close_logs(manifest, owner, to);
  manifest.logs.push_back({prefix, next_owner, from, std::nullopt});
  return manifest;
}

std::optional<LogSeq> open_from(const Manifest& manifest, const IncarnationId& incarnation) {
  std::optional<LogSeq> lowest;
  for (const ManifestLog& log : manifest.logs) {
    if (log.incarnation != incarnation || log.to) continue;
    lowest = lowest ? std::min(*lowest, log.from) : log.from;
  }
  return lowest;
}

}  // namespace morula
