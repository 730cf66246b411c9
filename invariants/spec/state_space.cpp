#include "invariants/spec/state_space.hpp"

#include <cstring>
#include <functional>

#include "core/base/check.hpp"

namespace morula::spec {

StateSpace::StateSpace() : slots_(1024) {}

std::optional<StateSpace::Id> StateSpace::add(std::string_view bytes, Id parent) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  const uint64_t whole = std::hash<std::string_view>()(bytes);
  const auto hash = static_cast<uint32_t>(whole >> 32 ^ whole);
  const size_t mask = slots_.size() - 1;
  size_t place = hash & mask;
  for (; slots_[place].id != kNone; place = (place + 1) & mask) {
    if (slots_[place].hash == hash && this->bytes(slots_[place].id) == bytes) return std::nullopt;
  }
  MORULA_CHECK(entries_.size() < kNone);
  const Id id = size();
  slots_[place] = {hash, id};
  entries_.push_back({store(bytes), static_cast<uint32_t>(bytes.size()), parent});
  return id;
}

std::string_view StateSpace::bytes(Id id) const {
  const Entry& entry = entries_[id];
  return {blocks_[entry.at / kBlockBytes].get() + entry.at % kBlockBytes, entry.size};
}

int StateSpace::path_length(Id id) const {
  int length = 0;
  for (; id != kNone; id = parent(id)) ++length;
  return length;
}

uint64_t StateSpace::memory_bytes() const {
  return blocks_.size() * kBlockBytes + entries_.capacity() * sizeof(Entry) +
         slots_.capacity() * sizeof(Slot);
}

uint64_t StateSpace::store(std::string_view bytes) {
  MORULA_CHECK(bytes.size() <= kBlockBytes);
  if (used_ + bytes.size() > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    used_ = 0;
  }
  std::memcpy(blocks_.back().get() + used_, bytes.data(), bytes.size());
  const uint64_t at = (blocks_.size() - 1) * kBlockBytes + used_;
  used_ += bytes.size();
  return at;
}

void StateSpace::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == kNone) continue;
    size_t place = slot.hash & mask;
    while (larger[place].id != kNone) place = (place + 1) & mask;
    larger[place] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace morula::spec
