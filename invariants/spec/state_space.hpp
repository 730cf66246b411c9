// The states that a search has found, in the order in which it found them, each once.
//
// Made for millions of states in little memory: their bytes lie in large blocks one after another;
// beside them, about 32 bytes are kept for each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace morula::spec {

class StateSpace {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = 0xffffffff;

  StateSpace();

  /// Adds a state that was reached from `parent` (kNone: an initial one). Nullopt if it is known.
  std::optional<Id> add(std::string_view bytes, Id parent);

  Id size() const { return static_cast<Id>(entries_.size()); }
  /// They stay where they are.
  std::string_view bytes(Id id) const;
  Id parent(Id id) const { return entries_[id].parent; }
  /// How many states lie on the way to this one, itself and the initial one included.
  int path_length(Id id) const;
  /// What all of it takes.
  uint64_t memory_bytes() const;

 private:
  static constexpr size_t kBlockBytes = size_t{16} << 20;

  struct Entry {
    uint64_t at;  // block * kBlockBytes + place in it
    uint32_t size;
    Id parent;
  };
  struct Slot {
    uint32_t hash = 0;
    Id id = kNone;
  };

  uint64_t store(std::string_view bytes);
  void grow();

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t used_ = kBlockBytes;  // of the last block
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half full
};

}  // namespace morula::spec
