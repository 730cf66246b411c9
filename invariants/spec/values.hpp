// The values that a spec's state is made of, as TLA+ has them, and their bytes.
//
// Equal states have equal bytes: a set lies in order, and nothing else has two forms. So a state
// space can be searched by the bytes alone.
//
// A struct takes part by naming its members, in order:
//
//   struct Row {
//     int shard = 0;
//     int key = 0;
//     static constexpr auto kFields = std::tuple(&Row::shard, &Row::key);
//     auto operator<=>(const Row&) const = default;
//   };
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace morula::spec {

/// A finite set; its elements lie in order.
template <class T>
class Set {
 public:
  Set() = default;
  Set(std::initializer_list<T> items) {
    for (const T& item : items) insert(item);
  }

  void insert(T item) {
    const auto place = std::lower_bound(items_.begin(), items_.end(), item);
    if (place == items_.end() || *place != item) items_.insert(place, std::move(item));
  }
  void insert(const Set& others) {
    for (const T& item : others) insert(item);
  }
  void erase(const T& item) { std::erase(items_, item); }
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(items_, predicate);
  }
  void clear() { items_.clear(); }

  bool contains(const T& item) const {
    return std::binary_search(items_.begin(), items_.end(), item);
  }
  template <class Predicate>
  bool any(Predicate predicate) const {
    return std::any_of(items_.begin(), items_.end(), predicate);
  }
  bool empty() const { return items_.empty(); }
  int size() const { return static_cast<int>(items_.size()); }
  /// The n-th in order, from 0.
  const T& at(int n) const { return items_[static_cast<size_t>(n)]; }
  const T& lowest() const { return items_.front(); }
  const T& highest() const { return items_.back(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  auto operator<=>(const Set&) const = default;

 private:
  friend class StateDecoder;
  std::vector<T> items_;
};

/// All subsets of `items`, the empty one first.
template <class T>
std::vector<Set<T>> subsets_of(const Set<T>& items) {
  std::vector<Set<T>> subsets{{}};
  for (const T& item : items) {
    const size_t without = subsets.size();
    for (size_t i = 0; i < without; ++i) {
      subsets.push_back(subsets[i]);
      subsets.back().insert(item);
    }
  }
  return subsets;
}

template <class T>
concept Struct = requires { T::kFields; };

class StateEncoder {
 public:
  /// The bytes of `value`; they live until the next call.
  template <class T>
  std::string_view encode(const T& value) {
    bytes_.clear();
    put(value);
    return bytes_;
  }

 private:
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void put(T value) {
    // -1 is a value of the specs; anything below is not.
    auto rest = static_cast<uint64_t>(static_cast<int64_t>(value) + 1);
    for (; rest >= 0x80; rest >>= 7) bytes_.push_back(static_cast<char>(rest | 0x80));
    bytes_.push_back(static_cast<char>(rest));
  }
  template <Struct T>
  void put(const T& value) {
    std::apply([&](auto... field) { (put(value.*field), ...); }, T::kFields);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(items.size());
    for (const auto& item : items) put(static_cast<const T&>(item));
  }
  template <class T>
  void put(const Set<T>& items) {
    put(items.size());
    for (const T& item : items) put(item);
  }

  std::string bytes_;
};

class StateDecoder {
 public:
  /// `bytes`: what an StateEncoder made of a T. Keeps the memory that `value` has.
  template <class T>
  void decode(std::string_view bytes, T& value) {
    next_ = bytes.data();
    get(value);
  }

 private:
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void get(T& value) {
    uint64_t whole = 0;
    int shift = 0;
    for (; (*next_ & 0x80) != 0; shift += 7) {
      whole |= static_cast<uint64_t>(*next_++ & 0x7f) << shift;
    }
    whole |= static_cast<uint64_t>(*next_++) << shift;
    value = static_cast<T>(static_cast<int64_t>(whole) - 1);
  }
  template <Struct T>
  void get(T& value) {
    std::apply([&](auto... field) { (get(value.*field), ...); }, T::kFields);
  }
  template <class T>
  void get(std::vector<T>& items) {
    size_t size = 0;
    get(size);
    items.resize(size);
    for (T& item : items) get(item);
  }
  template <class T>
  void get(Set<T>& items) {
    get(items.items_);
  }

  const char* next_ = nullptr;
};

}  // namespace morula::spec
