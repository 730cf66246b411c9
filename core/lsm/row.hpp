// core/lsm keeps the rows of a shard: in memory (memtable.hpp), in files (table_builder.hpp,
// table.hpp, block_cache.hpp), and both as one (tree_reader.hpp); which files and logs a shard is
// made of (manifest.hpp). It does not know what rows mean (core/stream), when to flush or who owns
// a shard (core/shard). Formats: core/lsm/FORMAT.md.
//
// Rows: what shards are made of. Key and value are bytes; the key's order is the tree's order.
//
//   meta  StreamId | ~generation | kind | suffix      hot, descriptor and producer rows
//   data  StreamId | ~generation | end offset         one append each, by the offset AFTER it
//   index kind | tenant | 0 | path | 0 | ~generation | StreamId     one for each creation
//
// StreamId, generation and offsets are big-endian; the generation is inverted, so that the newest
// comes first: a seek to a StreamId finds its last creation. A data row is found by its end, so
// that a read from any offset is one forward seek: to the first row that ends after it. Neither
// tenant nor path holds a zero byte, so index rows are ordered by tenant and then by path.
//
// In every tree the rows of one stream lie together, the newest generation first: they share a
// front that only they have, the stream's place in the tree (`row_key::place`). Tables are bounded
// by places, and cut between them; clips go by the StreamId, which every key has somewhere.
//
// Where two places hold a key, the row with the higher change number wins, whatever the place's age
// (the generation is in the key).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

enum class Tree : uint8_t { kMeta = 0, kData = 1, kIndex = 2 };
inline constexpr std::array<Tree, 3> kTrees = {Tree::kMeta, Tree::kData, Tree::kIndex};
std::string_view to_string(Tree tree);

/// Kinds of meta rows, in key order.
enum class RowKind : uint8_t {
  kHot = 0,  // tail, flags, expiry, ...; always present while the stream exists or is deleted
  kDescriptor = 1,  // what an append doesn't need
  kProducer = 2,    // suffix: the producer's id
  kSequence = 3,    // the last `Stream-Seq`
};

/// Kinds of index rows, in key order.
enum class IndexKind : uint8_t {
  kListing = 0,  // by tenant and path; a tombstone of one that was deleted or has expired
};

/// A place in a stream: how many messages and how many bytes lie before it.
struct Offset {
  uint64_t messages = 0;
  uint64_t bytes = 0;
  friend auto operator<=>(const Offset&, const Offset&) = default;
};

struct Row;

/// A row where it lies; who hands it out says how long it stays valid.
struct RowView {
  std::string_view key;
  ChangeNumber change;
  bool deleted = false;
  std::string_view value;

  Row copy(Tree tree) const;
};

struct Row {
  Tree tree = Tree::kMeta;
  std::string key;
  ChangeNumber change;
  bool deleted = false;  // a tombstone; its value may still say something
  std::string value;

  operator RowView() const { return {key, change, deleted, value}; }  // NOLINT(*-explicit-*)
};

inline Row RowView::copy(Tree tree) const {
  return {tree, std::string(key), change, deleted, std::string(value)};
}

/// A key on the stack: any but those of producers, which have a suffix.
class ShortKey {
 public:
  static ShortKey meta(StreamId id, Generation generation, RowKind kind);
  static ShortKey data(StreamId id, Generation generation, Offset end);
  static ShortKey stream(StreamId id);

  operator std::string_view() const { return {bytes_.data(), size_}; }  // NOLINT(*-explicit-*)

 private:
  ShortKey() = default;
  void add(uint64_t number);  // big-endian

  std::array<char, 40> bytes_;
  size_t size_ = 0;
};

namespace row_key {

/// Of the StreamId at the start of meta and data keys and at the end of index keys.
inline constexpr size_t kStreamBytes = 16;

std::string meta(StreamId id, Generation generation, RowKind kind, std::string_view suffix = {});
std::string data(StreamId id, Generation generation, Offset end);
/// Every key of the stream has this prefix.
std::string stream(StreamId id);
/// Every key of this creation has this prefix.
std::string generation(StreamId id, Generation generation);
/// Of the index row of one creation. Tenant and path have no zero byte and are not empty.
std::string listing(std::string_view tenant, std::string_view path, Generation generation,
                    StreamId id);
/// Index rows of this tenant's streams whose path begins with `prefix` have keys from here ...
std::string listing_begin(std::string_view tenant, std::string_view prefix);
/// ... to before this one,
std::string listing_end(std::string_view tenant, std::string_view prefix);
/// and those whose path is above `path` from here.
std::string listing_after(std::string_view tenant, std::string_view path);

struct Parts {
  StreamId id;
  Generation generation;
  RowKind kind = RowKind::kHot;  // of a meta key
  std::string_view suffix;       // of a meta key
  Offset end;                    // of a data key
  std::string_view tenant;       // of an index key
  std::string_view path;         // of an index key
};
/// kCorrupt when `key` is no key of that tree.
Result<Parts> parse(Tree tree, std::string_view key);
/// The first 16 bytes; the caller knows that it is a key of the meta or data tree.
StreamId stream_id(std::string_view key);
/// Of any tree's key; the caller knows that it is one.
StreamId stream_id(Tree tree, std::string_view key);
/// What the stream's rows in this tree begin with, and no others do; the caller knows that it is a
/// key of that tree.
std::string_view place(Tree tree, std::string_view key);

}  // namespace row_key

}  // namespace morula
