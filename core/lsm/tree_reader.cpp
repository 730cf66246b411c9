#include "core/lsm/tree_reader.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/base/units.hpp"
#include "core/rt/concurrently.hpp"

namespace morula {
namespace {

constexpr uint64_t kReadAheadMax = kMiB;
constexpr uint64_t kRangeAheadMax = 64 * kKiB;
// A cold read of many tables takes the time of a few requests, not of all of them in turn.
constexpr size_t kTablesAtOnce = 8;

bool is_hot(std::string_view key) {
  const auto parts = row_key::parse(Tree::kMeta, key);
  return parts && parts->kind == RowKind::kHot;
}

/// The hot row of the highest (generation, change number) among those offered.
class NewestHot {
 public:
  void offer(const RowView& row) {
    if (!best_ || newer(row)) best_ = row.copy(Tree::kMeta);
  }
  std::optional<Row> take() { return std::move(best_); }

 private:
  bool newer(const RowView& row) const {
    // The generation is inverted in the key: the newest is the smallest.
    if (mutated(Mutant::change_without_generation)) return row.change > best_->change;
    const int order = row.key.compare(best_->key);
    if (mutated(Mutant::old_generation_shows) && order != 0) return order > 0;
    return order < 0 || (order == 0 && row.change > best_->change);
  }

  std::optional<Row> best_;
};

/// True when a source has nothing more to say about a stream after this hot row: what follows in
/// key order is older.
bool later_rows_are_older() {
  return !mutated(Mutant::old_generation_shows) && !mutated(Mutant::change_without_generation);
}

/// One memtable or table as a sequence of rows that a merge walks.
class Source {
 public:
  /// While another source suspends the memtable may get rows; these don't invalidate the cursor.
  explicit Source(Memtable::Cursor cursor, Prefix clip = {}) : walk_(cursor), clip_(clip) {}
  explicit Source(TableCursor cursor, Prefix clip = {}) : walk_(std::move(cursor)), clip_(clip) {}

  Result<> seek(std::string_view key) { return std::get<TableCursor>(walk_).seek(key); }
  Result<> next() {
    if (auto* table = std::get_if<TableCursor>(&walk_)) return table->next();
    std::get<Memtable::Cursor>(walk_).next();
    return {};
  }
  /// Passes over rows outside the clip.
  Result<> settle(Tree tree) {
    while (valid() && !clip_.contains(row_key::stream_id(tree, row().key))) MORULA_TRY(next());
    return {};
  }
  bool valid() const {
    return std::visit([](const auto& cursor) { return cursor.valid(); }, walk_);
  }
  RowView row() const {
    return std::visit([](const auto& cursor) { return cursor.row(); }, walk_);
  }

 private:
  std::variant<Memtable::Cursor, TableCursor> walk_;
  Prefix clip_;
};

/// All of them, each at its first row from `begin` on.
Result<std::vector<Source>> open_sources(const std::vector<ClippedMemtable>& memtables,
                                         std::vector<TableCursor> tables, std::string_view begin) {
  std::vector<Source> sources;
  sources.reserve(tables.size() + memtables.size());
  for (TableCursor& table : tables) sources.emplace_back(std::move(table));
  const auto done = for_each_concurrently(tables.size(), kTablesAtOnce,
                                          [&](size_t i) { return sources[i].seek(begin); });
  MORULA_TRY(done);
  const StreamId id = row_key::stream_id(begin);
  for (const ClippedMemtable& memtable : memtables) {
    if (!memtable.clip.contains(id)) continue;
    sources.emplace_back(memtable.memtable->lower_bound(Tree::kData, begin));
  }
  return sources;
}

/// The source whose row comes next: the smallest key, and of equal keys the highest change number.
/// Null when no source has a row below `end`.
Source* next_source(std::vector<Source>& sources, std::string_view end) {
  Source* best = nullptr;
  for (Source& source : sources) {
    if (!source.valid() || source.row().key >= end) continue;
    if (best == nullptr || source.row().key < best->row().key ||
        (source.row().key == best->row().key && source.row().change > best->row().change)) {
      best = &source;
    }
  }
  return best;
}

}  // namespace

Result<std::vector<TableCursor>> TreeReader::cursors_at(std::string_view key,
                                                        const TableCursor::ReadAhead& ahead) const {
  const StreamId id = row_key::stream_id(key);
  const std::string_view stream = row_key::place(tree_, key);
  std::vector<TableCursor> cursors;
  for (const ClippedTable& table : sources_.tables) {
    if (!table.clip.contains(id) || !table.streams.contains(stream)) continue;
    const bool begins_behind =
        !ahead.last_key.empty() && ahead.last_key <= table.table->footer().first_key;
    if (begins_behind) continue;
    cursors.emplace_back(table.table, ahead);
  }
  const auto done = for_each_concurrently(cursors.size(), kTablesAtOnce, [&](size_t i) -> Result<> {
    const Result<bool> maybe = cursors[i].look_for(key);
    if (!maybe) return fail(maybe.error());
    return {};
  });
  MORULA_TRY(done);
  std::erase_if(cursors, [](const TableCursor& cursor) { return !cursor.promising(); });
  return cursors;
}

Result<std::optional<Row>> TreeReader::find_hot(StreamId id) const {
  MORULA_CHECK(tree_ == Tree::kMeta);
  const ShortKey prefix = ShortKey::stream(id);
  NewestHot newest;
  for (const ClippedMemtable& memtable : sources_.memtables) {
    if (!memtable.clip.contains(id)) continue;
    for (auto cursor = memtable.memtable->lower_bound(tree_, prefix);
         cursor.valid() && cursor.row().key.starts_with(prefix); cursor.next()) {
      if (!is_hot(cursor.row().key)) continue;
      newest.offer(cursor.row());
      if (later_rows_are_older()) break;
    }
  }
  auto cursors = cursors_at(prefix, {});
  if (!cursors) return fail(std::move(cursors).error());
  const auto done =
      for_each_concurrently(cursors->size(), kTablesAtOnce, [&](size_t i) -> Result<> {
        TableCursor& cursor = (*cursors)[i];
        MORULA_TRY(cursor.seek(prefix));
        while (cursor.valid() && cursor.row().key.starts_with(prefix)) {
          if (is_hot(cursor.row().key)) {
            newest.offer(cursor.row());
            if (later_rows_are_older()) break;
          }
          MORULA_TRY(cursor.next());
        }
        return {};
      });
  MORULA_TRY(done);
  return newest.take();
}

Result<std::optional<Row>> TreeReader::find(std::string_view key) const {
  std::optional<Row> newest;
  const StreamId id = row_key::stream_id(key);
  for (const ClippedMemtable& memtable : sources_.memtables) {
    if (!memtable.clip.contains(id)) continue;
    const auto row = memtable.memtable->find(tree_, key);
    if (row && (!newest || row->change > newest->change)) newest = row->copy(tree_);
  }
  auto cursors = cursors_at(key, {});
  if (!cursors) return fail(std::move(cursors).error());
  const auto done =
      for_each_concurrently(cursors->size(), kTablesAtOnce, [&](size_t i) -> Result<> {
        TableCursor& cursor = (*cursors)[i];
        MORULA_TRY(cursor.seek(key));
        if (!cursor.valid() || cursor.row().key != key) return {};
        if (!newest || cursor.row().change > newest->change) newest = cursor.row().copy(tree_);
        return {};
      });
  MORULA_TRY(done);
  return newest;
}

// A stream that is larger than a table lies in tables side by side. So that a scan asks only those
// that it comes to, it goes on in pieces: each ends where another table begins.
Result<> TreeReader::scan_data(DataScan& scan, const TakeRow& take) const {
  MORULA_CHECK(tree_ == Tree::kData);
  // The first key behind the row that ends at `from`, and the first behind the one at `to`.
  const Offset next{scan.from.messages, scan.from.bytes + 1};
  const Offset behind{scan.to.messages, scan.to.bytes + 1};
  const ShortKey first = ShortKey::data(scan.id, scan.generation, next);
  const ShortKey end = ShortKey::data(scan.id, scan.generation, behind);
  std::string_view from = first;
  for (;;) {
    std::string_view to = end;
    for (const ClippedTable& table : sources_.tables) {
      const std::string_view begins = table.table->footer().first_key;
      if (from < begins && begins < to) to = begins;
    }
    const auto goes_on = scan_piece(scan, from, to, take);
    MORULA_TRY(goes_on);
    if (!*goes_on || to == std::string_view(end)) return {};
    from = to;
  }
}

Result<bool> TreeReader::scan_piece(DataScan& scan, std::string_view from, std::string_view to,
                                    const TakeRow& take) const {
  const uint64_t ahead = std::min(scan.bytes_max, kReadAheadMax);
  auto cursors = cursors_at(from, {std::string(to), ahead, 0});
  MORULA_TRY(cursors);
  // Of several tables most have no row in the range: those read one block.
  if (cursors->size() == 1) cursors->front().hurry();
  auto sources = open_sources(sources_.memtables, *std::move(cursors), from);
  MORULA_TRY(sources);
  while (scan.rows == 0 || scan.bytes < scan.bytes_max) {
    Source* best = next_source(*sources, to);
    if (best == nullptr) return true;
    const RowView row = best->row();
    if (!row.deleted) {
      const auto key = row_key::parse(tree_, row.key);
      MORULA_TRY(key);
      const auto wants_more = take(row);
      MORULA_TRY(wants_more);
      scan.from = key->end;
      ++scan.rows;
      scan.bytes += row.value.size();
      if (!*wants_more) return false;
    }
    // Its view stays valid until it moves itself.
    for (Source& source : *sources) {
      if (&source != best && source.valid() && source.row().key == row.key) {
        MORULA_TRY(source.next());
      }
    }
    MORULA_TRY(best->next());
  }
  return false;
}

Result<> TreeReader::scan_range(RangeScan& scan, const TakeRow& take) const {
  while (scan.from < scan.end) {
    std::string_view to = scan.end;
    for (const ClippedTable& table : sources_.tables) {
      const std::string_view begins = table.streams.first;
      if (scan.from < begins && begins < to) to = begins;
    }
    const auto goes_on = scan_range_piece(scan, to, take);
    MORULA_TRY(goes_on);
    if (!*goes_on) return {};
    scan.from = to;
  }
  return {};
}

Result<bool> TreeReader::scan_range_piece(RangeScan& scan, std::string_view to,
                                          const TakeRow& take) const {
  std::vector<Source> sources;
  for (const ClippedTable& table : sources_.tables) {
    const std::string_view last = table.streams.last;  // what its last key begins with
    const bool ends_before = last < scan.from && !scan.from.starts_with(last);
    if (table.streams.first >= to || ends_before) continue;
    const TableCursor::ReadAhead ahead{std::string(to), kRangeAheadMax, 0};
    sources.emplace_back(TableCursor(table.table, ahead), table.clip);
  }
  const auto sought =
      for_each_concurrently(sources.size(), kTablesAtOnce, [&](size_t i) -> Result<> {
        MORULA_TRY(sources[i].seek(scan.from));
        return sources[i].settle(tree_);
      });
  MORULA_TRY(sought);
  for (const ClippedMemtable& memtable : sources_.memtables) {
    sources.emplace_back(memtable.memtable->lower_bound(tree_, scan.from), memtable.clip);
    MORULA_TRY(sources.back().settle(tree_));
  }
  while (Source* best = next_source(sources, to)) {
    const auto wants_more = take(best->row());
    MORULA_TRY(wants_more);
    scan.from = best->row().key;
    const std::string passed = scan.from;
    scan.from.push_back('\0');  // the next key that there can be
    if (!*wants_more) return false;
    for (Source& source : sources) {
      if (!source.valid() || source.row().key != passed) continue;
      MORULA_TRY(source.next());
      MORULA_TRY(source.settle(tree_));
    }
  }
  return true;
}

}  // namespace morula
