#include "core/lsm/compaction_merge.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/mutant.hpp"
#include "core/base/units.hpp"
#include "core/rt/concurrently.hpp"

namespace morula {
namespace {

constexpr size_t kReadsAtOnce = 8;
constexpr uint64_t kUnlistedBytesMax = 16 * kMiB;  // in memory, until they are a table
// Of a tombstone that no change of the stream wrote: it has ended, there is none after it.
constexpr ChangeNumber kLastChange(UINT64_MAX);

}  // namespace

bool HotRows::seek(StreamId id) {
  if (id_ != id) {
    id_ = id;
    newest_.reset();
  }
  return std::ranges::all_of(scans_, [this](TableScan& scan) { return pass(scan); });
}

/// Takes what `scan` has of the stream, and leaves it behind that.
bool HotRows::pass(TableScan& scan) {
  for (; !scan.wants_more(); scan.next()) {
    if (!scan.valid()) return true;
    const RowView row = scan.row();
    const row_key::Parts& parts = scan.parts();
    if (parts.id > *id_) return true;
    if (parts.id < *id_ || parts.kind != RowKind::kHot) continue;
    const bool newer = !newest_ || std::pair(parts.generation, row.change) >
                                       std::pair(newest_->generation, newest_->change);
    if (newer) newest_ = Hot{parts.generation, row.change, row.deleted, expired_.covers(row.value)};
  }
  return false;
}

CompactionMerge::CompactionMerge(Tree tree, std::vector<TableScan> inputs,
                                 std::vector<ManifestTable> outside,
                                 std::optional<std::vector<TableScan>> hot,
                                 const ExpiredBy& expired, uint64_t output_bytes, uint8_t cut_bits)
    : tree_(tree),
      inputs_(std::move(inputs)),
      outside_(std::move(outside)),
      joins_(hot.has_value()),
      hot_(std::move(hot).value_or(std::vector<TableScan>()), expired),
      expired_(expired),
      output_bytes_(output_bytes),
      cut_bits_(cut_bits) {}

Result<uint64_t> CompactionMerge::read_more() {
  std::vector<TableScan*> wanting;
  for (auto* scans : {&inputs_, &hot_.scans()}) {
    for (TableScan& scan : *scans) {
      if (scan.wants_more()) wanting.push_back(&scan);
    }
  }
  uint64_t bytes = 0;
  const auto done = for_each_concurrently(wanting.size(), kReadsAtOnce, [&](size_t i) -> Result<> {
    const uint64_t before = wanting[i]->bytes_read();
    MORULA_TRY(wanting[i]->read_more());
    bytes += wanting[i]->bytes_read() - before;
    return {};
  });
  MORULA_TRY(done);
  return bytes;
}

CompactionMerge::Pause CompactionMerge::merge(TableBuilder& output) {
  for (;;) {
    const bool wants_more =
        std::ranges::any_of(inputs_, [](const TableScan& scan) { return scan.wants_more(); });
    if (wants_more) return Pause::kWantsMore;
    const TableScan* next = next_row();
    if (next == nullptr) return Pause::kDone;
    const RowView row = next->row();
    const row_key::Parts& parts = next->parts();
    if (is_full(output, parts.id) || unlisted_->bytes() > kUnlistedBytesMax) {
      return Pause::kOutputFull;
    }
    const std::optional<bool> keep = keeps(row, parts);
    if (!keep) return Pause::kWantsMore;
    if (*keep) {
      added_ = parts.id;
      output.add(row);
    } else {
      ++dropped_.rows;
    }
    passed_.assign(row.key);
    for (TableScan& input : inputs_) {
      if (input.valid() && input.row().key == passed_) input.next();
    }
  }
}

std::shared_ptr<const Memtable> CompactionMerge::take_unlisted() {
  if (unlisted_->empty()) return nullptr;
  return std::exchange(unlisted_, std::make_shared<Memtable>());
}

/// The smallest key, and of equal keys the highest change number.
const TableScan* CompactionMerge::next_row() const {
  const TableScan* best = nullptr;
  for (const TableScan& scan : inputs_) {
    if (!scan.valid()) continue;
    if (best == nullptr) {
      best = &scan;
      continue;
    }
    const int order = scan.row().key.compare(best->row().key);
    if (order < 0 || (order == 0 && scan.row().change > best->row().change)) best = &scan;
  }
  return best;
}

std::optional<bool> CompactionMerge::keeps(const RowView& row, const row_key::Parts& parts) {
  if (tree_ != Tree::kData) {
    const bool keep = keeps_newest(row, parts);
    if (!keep) dropped_.highest = std::max(dropped_.highest, parts.generation);
    return keep;
  }
  if (!joins_) return true;
  if (!hot_.seek(parts.id)) return std::nullopt;
  return keeps_data(parts);
}

bool CompactionMerge::keeps_newest(const RowView& row, const row_key::Parts& parts) {
  // A stream's newest generation comes first, and in it the hot row. Of the index tree it is the
  // only row.
  if (!known_ || known_->id != parts.id) known_ = Known{parts.id, std::nullopt};
  std::optional<HotRows::Hot>& newest = known_->newest;
  if (parts.kind == RowKind::kHot && !newest) {
    // A row outside may have renewed what seems to have expired; nothing undoes a delete.
    const bool all_is_here = !may_lie_outside(row, parts.id);
    const bool expired =
        tree_ == Tree::kMeta && !row.deleted && all_is_here && expired_.covers(row.value);
    newest = HotRows::Hot{parts.generation, row.change, row.deleted, expired};
    if (row.deleted && all_is_here) ++dropped_.tombstones;
    if (expired) ++dropped_.expired;
    return !newest->over() || !all_is_here;
  }
  if (!newest || parts.generation > newest->generation) return true;  // its hot row lies elsewhere
  const bool ends = newest->expired && parts.generation == newest->generation;
  if (ends && parts.kind == RowKind::kDescriptor) unlist(row, parts);
  return parts.generation == newest->generation && !newest->over();
}

bool CompactionMerge::keeps_data(const row_key::Parts& parts) {
  const std::optional<HotRows::Hot>& newest = hot_.newest();
  if (!newest || newest->generation > parts.generation) return false;
  if (newest->generation < parts.generation || !newest->over()) return true;
  if (newest->expired) ++dropped_.expired;
  return false;
}

void CompactionMerge::unlist(const RowView& descriptor, const row_key::Parts& parts) {
  if (expired_.listing_of == nullptr) return;
  const auto key = expired_.listing_of(descriptor.value, parts.id, parts.generation);
  if (key) unlisted_->put(Tree::kIndex, {*key, kLastChange, true, {}});
}

bool CompactionMerge::may_lie_outside(const RowView& row, StreamId id) const {
  if (mutated(Mutant::tombstone_dropped_early)) return false;
  const std::string_view place = row_key::place(tree_, row.key);
  return std::ranges::any_of(outside_, [&](const ManifestTable& table) {
    return table.streams.contains(place) && table.clip.contains(id);
  });
}

/// Tables that end at the same bounds lie over each other in small stacks. But a table may have a
/// few crowded bounds within it, or one stream that is larger than a table.
bool CompactionMerge::is_full(const TableBuilder& output, StreamId next) const {
  if (output.rows() == 0 || output.bytes() < output_bytes_ / 4) return false;
  if (added_ == next) return output.bytes() >= 2 * output_bytes_;
  const int shared_bits = std::countl_zero(added_->high ^ next.high);
  return shared_bits < cut_bits_ || output.bytes() >= output_bytes_ + output_bytes_ / 2;
}

}  // namespace morula
