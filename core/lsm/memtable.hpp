// The newest rows of a shard, in memory, until they are flushed into tables.
//
// One skip list per tree over one arena: a row costs its bytes and about 47 more, and all of it is
// freed at once. The towers' heights come from a counter, so equal puts build equal memtables. An
// append changes its stream's hot row and adds a row behind the stream's last one: where rows of a
// stream were put last is remembered, so that most puts search nothing.
//
// A memtable that nobody puts into any more ("frozen") is immutable: it is shared as
// `std::shared_ptr<const Memtable>` and may be read by another thread (Compute).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/lsm/arena.hpp"
#include "core/lsm/row.hpp"

namespace morula {

class Memtable {
  struct Node;

 public:
  Memtable() = default;
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// Keeps the row unless its key is already here with the same or a higher change number (a
  /// replay). True when the row was kept. Never suspends.
  bool put(Tree tree, const RowView& row);
  bool put(const Row& row) { return put(row.tree, row); }

  /// The row of exactly this key, a tombstone included. The view is valid until the next put.
  std::optional<RowView> find(Tree tree, std::string_view key) const;

  /// Walks one tree in key order. Valid as long as the memtable lives; `row` is valid until the
  /// next put.
  class Cursor {
   public:
    bool valid() const { return node_ != nullptr; }
    RowView row() const;
    void next();

   private:
    friend class Memtable;
    explicit Cursor(const Node* node) : node_(node) {}
    const Node* node_;
  };
  Cursor begin(Tree tree) const { return lower_bound(tree, {}); }
  /// At the first row whose key is `key` or greater.
  Cursor lower_bound(Tree tree, std::string_view key) const;

  /// Memory that the rows occupy, with all overhead; 0 before the first put.
  uint64_t bytes() const {
    uint64_t places = 0;
    for (const List& list : lists_) places += list.recent.size();
    return arena_.bytes() + sizeof(Node*) * places;
  }
  /// Rows of `bytes`, keys and values, add at most this to `bytes()`, and `step_max()` once for all
  /// of them, if they are few: a chunk is filled to its last quarter at least, and the last one is
  /// only begun.
  static uint64_t growth_max(uint64_t bytes) { return bytes + bytes / 3; }
  uint64_t step_max() const;
  uint64_t rows(Tree tree) const { return list(tree).rows; }
  bool empty() const { return arena_.bytes() == 0; }

 private:
  static constexpr int kHeightMax = 12;  // at a quarter per level: good for 16 million rows
  struct List {
    std::array<Node*, kHeightMax> first{};
    uint64_t rows = 0;
    /// What was put last, by a hash of stream and kind; a power of two of them, which grows with
    /// the rows. Only a hint: streams may share a place.
    std::vector<Node*> recent;

    bool has_places_for(uint64_t rows_in_all) const;
  };
  /// For each level the link that a node with this key has or would have.
  using Path = std::array<Node**, kHeightMax>;

  const List& list(Tree tree) const { return lists_[static_cast<size_t>(tree)]; }
  static Node* seek(const List& list, std::string_view key, Path* path);
  /// The remembered node if `key` belongs at or directly behind it; else null.
  static Node* neighbour(const List& list, std::string_view key);
  static void remember(List& list, Node* node);
  Node* make_node(const RowView& row);
  void set_value(Node& node, const RowView& row);
  int draw_height();

  Arena arena_;
  std::array<List, kTrees.size()> lists_;  // by Tree
  uint64_t towers_ = 0;
};

/// A memtable, and the part of the hash space that it counts for: after a split both halves read
/// the same one.
struct ClippedMemtable {
  // NOLINTNEXTLINE(*-explicit-*): one that counts for all that is in it
  ClippedMemtable(std::shared_ptr<const Memtable> m, Prefix c = {})
      : memtable(std::move(m)), clip(c) {}
  std::shared_ptr<const Memtable> memtable;
  Prefix clip;
};

}  // namespace morula
