#include "core/lsm/tree_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/base/units.hpp"
#include "core/rt/concurrently.hpp"

namespace morula {
namespace {

constexpr uint64_t kReadAheadMax = kMiB;
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
    const int order = row.key.compare(best_->key);
    if (mutated(Mutant::old_generation_shows) && order != 0) return order > 0;
    return order < 0 || (order == 0 && row.change > best_->change);
  }

  std::optional<Row> best_;
};

/// True when a source has nothing more to say about a stream after this hot row: what follows in
/// key order is older.
bool later_rows_are_older() {
  return !mutated(Mutant::old_generation_shows);
}

/// One memtable or table as a sequence of rows that a merge walks.
class Source {
 public:
  Source(std::shared_ptr<const Memtable> memtable, Tree tree)
      : memtable_(std::move(memtable)), tree_(tree) {}
  explicit Source(TableCursor cursor) : table_(std::move(cursor)) {}

  Result<> seek(std::string_view key) {
    if (table_) return table_->seek(key);
    // Copied: the memtable may change while another source suspends.
    const Memtable::Cursor cursor = memtable_->lower_bound(tree_, key);
    row_.reset();
    if (cursor.valid()) row_ = cursor.row().copy(tree_);
    return {};
  }
  Result<> next() {
    if (table_) return table_->next();
    return seek(row_->key + '\0');
  }
  bool valid() const { return table_ ? table_->valid() : row_.has_value(); }
  RowView row() const {
    if (table_) return table_->row();
    return {row_->key, row_->change, row_->deleted, row_->value};
  }

 private:
  std::shared_ptr<const Memtable> memtable_;
  Tree tree_ = Tree::kMeta;
  std::optional<Row> row_;
  std::optional<TableCursor> table_;
};

/// The source whose row comes next: the smallest key, and of equal keys the highest change number.
/// Null when no source has a row up to `last_key`.
const Source* next_source(const std::vector<Source>& sources, std::string_view last_key) {
  const Source* best = nullptr;
  for (const Source& source : sources) {
    if (!source.valid() || source.row().key > last_key) continue;
    if (best == nullptr || source.row().key < best->row().key ||
        (source.row().key == best->row().key && source.row().change > best->row().change)) {
      best = &source;
    }
  }
  return best;
}

}  // namespace

Result<std::vector<std::shared_ptr<const Table>>> TreeReader::tables_of(StreamId id) const {
  const std::vector<ClippedTable>& all = sources_.tables;
  std::vector<char> chosen(all.size(), 0);
  const auto done = for_each_concurrently(all.size(), kTablesAtOnce, [&](size_t i) -> Result<> {
    if (!all[i].clip.contains(id) || !all[i].streams.contains(id)) return {};
    const Result<bool> maybe = all[i].table->may_contain(id);
    if (!maybe) return fail(maybe.error());
    chosen[i] = *maybe ? 1 : 0;
    return {};
  });
  MORULA_TRY(done);
  std::vector<std::shared_ptr<const Table>> tables;
  for (size_t i = 0; i < all.size(); ++i) {
    if (chosen[i] != 0) tables.push_back(all[i].table);
  }
  return tables;
}

Result<std::optional<Row>> TreeReader::find_hot(StreamId id) const {
  MORULA_CHECK(tree_ == Tree::kMeta);
  const std::string prefix = row_key::stream(id);
  NewestHot newest;
  for (const auto& memtable : sources_.memtables) {
    for (auto cursor = memtable->lower_bound(tree_, prefix);
         cursor.valid() && cursor.row().key.starts_with(prefix); cursor.next()) {
      if (!is_hot(cursor.row().key)) continue;
      newest.offer(cursor.row());
      if (later_rows_are_older()) break;
    }
  }
  const auto tables = tables_of(id);
  if (!tables) return fail(tables.error());
  const auto done = for_each_concurrently(tables->size(), kTablesAtOnce, [&](size_t i) -> Result<> {
    TableCursor cursor((*tables)[i]);
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
  for (const auto& memtable : sources_.memtables) {
    const auto row = memtable->find(tree_, key);
    if (row && (!newest || row->change > newest->change)) newest = row->copy(tree_);
  }
  const auto tables = tables_of(row_key::stream_id(key));
  if (!tables) return fail(tables.error());
  const auto done = for_each_concurrently(tables->size(), kTablesAtOnce, [&](size_t i) -> Result<> {
    auto row = (*tables)[i]->find(key);
    if (!row) return fail(std::move(row).error());
    if (*row && (!newest || (*row)->change > newest->change)) newest = **std::move(row);
    return {};
  });
  MORULA_TRY(done);
  return newest;
}

Result<std::vector<Row>> TreeReader::scan_data(StreamId id, Generation generation, Offset from,
                                               Offset to, uint64_t bytes_max) const {
  MORULA_CHECK(tree_ == Tree::kData);
  const std::string begin = row_key::data(id, generation, from) + '\0';
  const std::string last = row_key::data(id, generation, to);
  const auto tables = tables_of(id);
  if (!tables) return fail(tables.error());
  std::vector<Source> sources;
  sources.reserve(sources_.memtables.size() + tables->size());
  for (const auto& memtable : sources_.memtables) sources.emplace_back(memtable, tree_);
  for (const auto& table : *tables) {
    // Of several tables most have no row in the range: those read one block.
    const uint64_t ahead = std::min(bytes_max, kReadAheadMax);
    const uint64_t first = tables->size() == 1 ? ahead : 0;
    sources.emplace_back(TableCursor(table, {last, ahead, first}));
  }
  const auto done = for_each_concurrently(sources.size(), kTablesAtOnce,
                                          [&](size_t i) { return sources[i].seek(begin); });
  MORULA_TRY(done);
  std::vector<Row> rows;
  uint64_t bytes = 0;
  while (rows.empty() || bytes < bytes_max) {
    const Source* best = next_source(sources, last);
    if (best == nullptr) break;
    Row row = best->row().copy(tree_);
    for (Source& source : sources) {
      if (source.valid() && source.row().key == row.key) MORULA_TRY(source.next());
    }
    if (row.deleted) continue;
    bytes += row.value.size();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace morula
