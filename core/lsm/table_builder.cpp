#include "core/lsm/table_builder.hpp"

#include <vector>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "core/lsm/table_format.hpp"

namespace morula {

TableOptions TableOptions::of(Tree tree) {
  return {tree == Tree::kMeta ? 4 * kKiB : 32 * kKiB};
}

TableBuilder::TableBuilder(Tree tree, TableOptions options)
    : tree_(tree), options_(options), bytes_(table_header(tree)) {}

void TableBuilder::add(const RowView& row) {
  MORULA_CHECK(rows_ == 0 || last_key_ < row.key, "rows come in key order, each once");
  if (!block_.empty() &&
      block_.bytes() + row.key.size() + row.value.size() > options_.block_bytes) {
    cut_block();
  }
  const StreamId stream = row_key::stream_id(row.key);
  if (rows_ == 0) first_ = stream;
  filter_.add(stream);
  block_.add(row);
  last_key_.assign(row.key);
  ++rows_;
  tombstones_ += row.deleted ? 1 : 0;
}

void TableBuilder::cut_block() {
  const std::string block = block_.finish();
  const std::string handle = BlockHandle::of(block, bytes_.size()).encode();
  index_.add({last_key_, ChangeNumber(), false, handle});
  bytes_.append(block);
}

StreamRange TableBuilder::streams() const {
  return {first_, row_key::stream_id(last_key_)};
}

std::string TableBuilder::finish() {
  MORULA_CHECK(rows_ > 0);
  cut_block();
  TableFooter footer;
  footer.tree = tree_;
  footer.rows = rows_;
  footer.tombstones = tombstones_;
  footer.streams = filter_.streams();
  const std::string filter = filter_.finish();
  footer.filter = BlockHandle::of(filter, bytes_.size());
  bytes_.append(filter);
  const std::string index = index_.finish();
  footer.index = BlockHandle::of(index, bytes_.size());
  bytes_.append(index);
  bytes_.append(footer.encode());
  return std::move(bytes_);
}

std::optional<BuiltTable> build_table(std::span<const std::shared_ptr<const Memtable>> memtables,
                                      Tree tree) {
  std::vector<Memtable::Cursor> cursors;
  for (const auto& memtable : memtables) {
    const Memtable::Cursor cursor = memtable->begin(tree);
    if (cursor.valid()) cursors.push_back(cursor);
  }
  if (cursors.empty()) return std::nullopt;
  TableBuilder builder(tree);
  while (!cursors.empty()) {
    RowView newest = cursors[0].row();
    for (const Memtable::Cursor& cursor : cursors) {
      const RowView row = cursor.row();
      if (row.key < newest.key || (row.key == newest.key && row.change > newest.change)) {
        newest = row;
      }
    }
    builder.add(newest);
    for (Memtable::Cursor& cursor : cursors) {
      if (cursor.row().key == newest.key) cursor.next();
    }
    std::erase_if(cursors, [](const Memtable::Cursor& cursor) { return !cursor.valid(); });
  }
  const StreamRange streams = builder.streams();
  return BuiltTable{builder.finish(), streams};
}

}  // namespace morula
