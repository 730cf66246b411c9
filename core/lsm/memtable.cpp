#include "core/lsm/memtable.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/units.hpp"

namespace morula {

/// Followed by `height` links and then the key; the first value comes right after the key.
struct Memtable::Node {
  char* value = nullptr;
  uint32_t value_bytes = 0;
  uint32_t value_room = 0;
  ChangeNumber change;
  uint32_t key_bytes = 0;
  bool deleted = false;
  uint8_t height = 0;

  Node** links() { return reinterpret_cast<Node**>(this + 1); }
  Node* const* links() const { return reinterpret_cast<Node* const*>(this + 1); }
  char* key_place() { return reinterpret_cast<char*>(links() + height); }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(links() + height), key_bytes};
  }
};

namespace {

constexpr size_t kRecentMin = 64;
constexpr size_t kRecentMax = 8 * kKiB;
// That one change of a stream adds to a tree.
constexpr uint64_t kRowsAtOnce = 4;
constexpr size_t kRecentPerRow = 8;  // of fewer streams than places hardly any share one

/// The first bytes as a number that compares as they do. In meta and data keys they are a hash,
/// so that hardly ever more of two keys need be compared.
uint64_t front_of(std::string_view key) {
  uint64_t front = 0;
  key.copy(reinterpret_cast<char*>(&front), sizeof(front));
  return __builtin_bswap64(front);
}

/// By stream and kind, which rows of a tree that are put in turn have in common.
size_t place_of(std::string_view key, size_t places) {
  constexpr size_t kKindAt = 24;
  uint64_t halves[2] = {};
  key.copy(reinterpret_cast<char*>(halves), sizeof(halves));
  const uint64_t kind = key.size() > kKindAt ? static_cast<uint8_t>(key[kKindAt]) : 0;
  const uint64_t mixed = (halves[0] ^ std::rotl(halves[1], 32) ^ kind) * 0x9e3779b97f4a7c15;
  return (mixed >> 32) & (places - 1);
}

}  // namespace

Memtable::Node* Memtable::seek(const List& list, std::string_view key, Path* path) {
  const uint64_t front = front_of(key);
  const auto before_key = [&](const Node& node) {
    const std::string_view its_key = node.key();
    const uint64_t its_front = front_of(its_key);
    return its_front != front ? its_front < front : its_key < key;
  };
  Node* const* links = list.first.data();
  Node* node = nullptr;
  for (int level = kHeightMax; level-- > 0;) {
    for (node = links[level]; node != nullptr && before_key(*node); node = links[level]) {
      links = node->links();
    }
    if (path != nullptr) (*path)[level] = const_cast<Node**>(&links[level]);
  }
  return node;
}

bool Memtable::List::has_places_for(uint64_t rows_in_all) const {
  return kRecentPerRow * rows_in_all <= recent.size() || recent.size() >= kRecentMax;
}

uint64_t Memtable::step_max() const {
  uint64_t places = 0;
  for (const List& list : lists_) {
    if (list.has_places_for(list.rows + kRowsAtOnce)) continue;
    places += std::max(list.recent.size(), kRecentMin);
  }
  return arena_.next_chunk() + sizeof(Node*) * places;
}

Memtable::Node* Memtable::neighbour(const List& list, std::string_view key) {
  if (list.recent.empty()) return nullptr;
  Node* const recent = list.recent[place_of(key, list.recent.size())];
  if (recent == nullptr || recent->key() > key) return nullptr;
  const Node* const next = recent->links()[0];
  const bool fits = recent->key() == key || next == nullptr || next->key() > key;
  return fits ? recent : nullptr;
}

void Memtable::remember(List& list, Node* node) {
  if (!list.has_places_for(list.rows)) {
    std::vector<Node*> larger(std::max(2 * list.recent.size(), kRecentMin));
    for (Node* known : list.recent) {
      if (known != nullptr) larger[place_of(known->key(), larger.size())] = known;
    }
    list.recent = std::move(larger);
  }
  list.recent[place_of(node->key(), list.recent.size())] = node;
}

bool Memtable::put(Tree tree, const RowView& row) {
  List& list = lists_[static_cast<size_t>(tree)];
  Node* const near = neighbour(list, row.key);
  Path path;
  Node* node = near != nullptr ? near : seek(list, row.key, &path);
  if (node != nullptr && node->key() == row.key) {
    if (row.change <= node->change) return false;
    set_value(*node, row);
    remember(list, node);
    return true;
  }
  node = make_node(row);
  if (near != nullptr && near->height >= node->height) {
    for (int level = 0; level < node->height; ++level) path[level] = near->links() + level;
  } else if (near != nullptr) {
    seek(list, row.key, &path);
  }
  for (int level = 0; level < node->height; ++level) {
    node->links()[level] = *path[level];
    *path[level] = node;
  }
  ++list.rows;
  remember(list, node);
  return true;
}

Memtable::Node* Memtable::make_node(const RowView& row) {
  MORULA_CHECK(row.key.size() <= UINT32_MAX && row.value.size() <= UINT32_MAX);
  const int height = draw_height();
  const size_t head = sizeof(Node) + height * sizeof(Node*);
  Node* const node = new (arena_.allocate(head + row.key.size() + row.value.size())) Node;
  node->height = static_cast<uint8_t>(height);
  node->key_bytes = static_cast<uint32_t>(row.key.size());
  std::memcpy(node->key_place(), row.key.data(), row.key.size());
  node->value = node->key_place() + row.key.size();
  node->value_room = static_cast<uint32_t>(row.value.size());
  set_value(*node, row);
  return node;
}

void Memtable::set_value(Node& node, const RowView& row) {
  if (row.value.size() > node.value_room) {
    MORULA_CHECK(row.value.size() <= UINT32_MAX);
    // Rows that are changed over and over grow by a byte now and then: with some room to spare most
    // changes stay in place.
    const size_t room = row.value.size() + row.value.size() / 8;
    node.value = arena_.allocate(room);
    node.value_room = static_cast<uint32_t>(room);
  }
  if (!row.value.empty()) std::memmove(node.value, row.value.data(), row.value.size());
  node.value_bytes = static_cast<uint32_t>(row.value.size());
  node.change = row.change;
  node.deleted = row.deleted;
}

int Memtable::draw_height() {
  uint64_t bits = ++towers_ * 0x9e3779b97f4a7c15;  // Fibonacci hashing; its high bits are mixed
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93;
  const int fours = std::countl_zero(bits | 1) / 2;
  return fours < kHeightMax ? fours + 1 : kHeightMax;
}

std::optional<RowView> Memtable::find(Tree tree, std::string_view key) const {
  const Cursor cursor = lower_bound(tree, key);
  if (!cursor.valid() || cursor.node_->key() != key) return std::nullopt;
  return cursor.row();
}

Memtable::Cursor Memtable::lower_bound(Tree tree, std::string_view key) const {
  return Cursor(seek(list(tree), key, nullptr));
}

RowView Memtable::Cursor::row() const {
  return {node_->key(), node_->change, node_->deleted, {node_->value, node_->value_bytes}};
}

void Memtable::Cursor::next() {
  node_ = node_->links()[0];
}

}  // namespace morula
