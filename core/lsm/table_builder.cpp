#include "core/lsm/table_builder.hpp"

#include <vector>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "core/lsm/packed_block.hpp"
#include "core/lsm/table_format.hpp"

namespace morula {

TableOptions TableOptions::of(Tree tree) {
  switch (tree) {
    case Tree::kMeta:
      return {4 * kKiB, 128 * kKiB};
    case Tree::kData:
      return {32 * kKiB, 256 * kKiB};
    case Tree::kIndex:
      return {16 * kKiB, 128 * kKiB};
  }
  return {};
}

TableBuilder::TableBuilder(Tree tree, TableOptions options)
    : tree_(tree), options_(options), bytes_(table_header(tree)), section_begin_(bytes_.size()) {}

void TableBuilder::add(const RowView& row) {
  MORULA_CHECK(rows_ == 0 || last_key_ < row.key, "rows come in key order, each once");
  if (!block_.empty() && is_full(row.key, block_.bytes() + row.key.size() + row.value.size())) {
    cut_block(row.key);
  }
  if (rows_ == 0) first_key_.assign(row.key);
  if (rows_ == 0 || place(row.key) != place(last_key_)) ++streams_;
  // Nobody looks for one stream in the index.
  if (tree_ != Tree::kIndex) section_.add_stream(row_key::stream_id(row.key));
  block_.add(row);
  last_key_.assign(row.key);
  ++rows_;
  tombstones_ += row.deleted ? 1 : 0;
}

/// A block ends between two streams, unless one of them is large: a stream's few rows are read
/// together, and a separator of streams is shorter than one of rows.
bool TableBuilder::is_full(std::string_view next, uint64_t bytes) const {
  return bytes > options_.block_bytes && (place(next) != place(last_key_) ||
                                          bytes > options_.block_bytes + options_.block_bytes / 4);
}

void TableBuilder::cut_block(std::string_view next) {
  const std::string block = pack_block(block_.finish());
  const std::string_view last = separator(last_key_, next);
  section_.add_block(last, BlockHandle::of(block, bytes_.size()));
  bytes_.append(block);
  if (bytes_.size() - section_begin_ >= options_.section_bytes) cut_section(last);
}

void TableBuilder::cut_section(std::string_view last) {
  const std::string block = section_.finish();
  const SectionHandle section{bytes_.size() - section_begin_,
                              BlockHandle::of(block, bytes_.size())};
  index_.add({last, ChangeNumber(), false, section.encode()});
  bytes_.append(block);
  section_begin_ = bytes_.size();
}

KeyRange TableBuilder::streams() const {
  return {std::string(place(first_key_)), std::string(place(last_key_))};
}

std::string TableBuilder::finish() {
  MORULA_CHECK(rows_ > 0);
  cut_block({});
  if (!section_.empty()) cut_section(last_key_);
  TableFooter footer;
  footer.tree = tree_;
  footer.rows = rows_;
  footer.tombstones = tombstones_;
  footer.streams = streams_;
  footer.first_key = first_key_;
  const std::string index = index_.finish();
  footer.index = BlockHandle::of(index, bytes_.size());
  bytes_.append(index);
  bytes_.append(footer.encode());
  return std::move(bytes_);
}

namespace {

/// The rows of a memtable within its clip.
class ClippedCursor {
 public:
  ClippedCursor(const ClippedMemtable& memtable, Tree tree)
      : tree_(tree), clip_(memtable.clip), cursor_(memtable.memtable->begin(tree)) {
    settle();
  }
  bool valid() const { return cursor_.valid(); }
  RowView row() const { return cursor_.row(); }
  void next() {
    cursor_.next();
    settle();
  }

 private:
  void settle() {
    if (clip_ == Prefix{}) return;
    while (valid() && !clip_.contains(row_key::stream_id(tree_, row().key))) cursor_.next();
  }

  Tree tree_;
  Prefix clip_;
  Memtable::Cursor cursor_;
};

}  // namespace

std::optional<BuiltTable> build_table(std::span<const ClippedMemtable> memtables, Tree tree) {
  std::vector<ClippedCursor> cursors;
  for (const ClippedMemtable& memtable : memtables) {
    const ClippedCursor cursor(memtable, tree);
    if (cursor.valid()) cursors.push_back(cursor);
  }
  if (cursors.empty()) return std::nullopt;
  TableBuilder builder(tree);
  while (!cursors.empty()) {
    RowView newest = cursors[0].row();
    for (const ClippedCursor& cursor : cursors) {
      const RowView row = cursor.row();
      if (row.key < newest.key || (row.key == newest.key && row.change > newest.change)) {
        newest = row;
      }
    }
    builder.add(newest);
    for (ClippedCursor& cursor : cursors) {
      if (cursor.row().key == newest.key) cursor.next();
    }
    std::erase_if(cursors, [](const ClippedCursor& cursor) { return !cursor.valid(); });
  }
  const KeyRange streams = builder.streams();
  return BuiltTable{builder.finish(), streams};
}

}  // namespace morula
