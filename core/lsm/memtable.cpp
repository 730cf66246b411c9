#include "core/lsm/memtable.hpp"

#include <bit>
#include <cstring>
#include <new>

#include "core/base/check.hpp"

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

Memtable::Node* Memtable::seek(const List& list, std::string_view key, Path* path) {
  Node* const* links = list.first.data();
  Node* node = nullptr;
  for (int level = kHeightMax; level-- > 0;) {
    for (node = links[level]; node != nullptr && node->key() < key; node = links[level]) {
      links = node->links();
    }
    if (path != nullptr) (*path)[level] = const_cast<Node**>(&links[level]);
  }
  return node;
}

bool Memtable::put(Tree tree, const RowView& row) {
  List& list = lists_[static_cast<size_t>(tree)];
  Path path;
  Node* node = seek(list, row.key, &path);
  if (node != nullptr && node->key() == row.key) {
    if (row.change <= node->change) return false;
    set_value(*node, row);
    return true;
  }
  MORULA_CHECK(row.key.size() <= UINT32_MAX && row.value.size() <= UINT32_MAX);
  const int height = draw_height();
  const size_t head = sizeof(Node) + height * sizeof(Node*);
  node = new (arena_.allocate(head + row.key.size() + row.value.size())) Node;
  node->height = static_cast<uint8_t>(height);
  node->key_bytes = static_cast<uint32_t>(row.key.size());
  std::memcpy(node->key_place(), row.key.data(), row.key.size());
  node->value = node->key_place() + row.key.size();
  node->value_room = static_cast<uint32_t>(row.value.size());
  set_value(*node, row);
  for (int level = 0; level < height; ++level) {
    node->links()[level] = *path[level];
    *path[level] = node;
  }
  ++list.rows;
  return true;
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
