// How a table uses the second tier of the block cache: what it takes from there is checked like
// what comes from the store, and what it reads in the store it offers.
#include <utility>

#include "core/base/codec.hpp"
#include "core/base/mutant.hpp"
#include "core/lsm/packed_block.hpp"
#include "core/lsm/table.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

constexpr size_t kSealBytes = 8;

/// A block is known by the handle that names it. Nothing names a tail: one of another table, with
/// its own checksums right, would pass for this one's, and all that it names for damage. So it
/// bears a checksum of the table's key and of itself.
std::string sealed_tail(std::string_view key, std::string_view tail) {
  std::string sealed(tail);
  Encoder(sealed).u64(checksum(std::string(key).append(tail)));
  return sealed;
}

std::optional<std::string_view> unsealed_tail(std::string_view key, std::string_view sealed) {
  if (sealed.size() < kSealBytes) return std::nullopt;
  const std::string_view tail = sealed.substr(0, sealed.size() - kSealBytes);
  if (sealed_tail(key, tail) != sealed) return std::nullopt;
  return tail;
}

}  // namespace

std::optional<TierTable> Table::tier_identity(std::string_view key) {
  const auto parsed = keys::parse(key);
  if (!parsed || parsed->kind != keys::Parsed::Kind::kTable) return std::nullopt;
  TierTable table{parsed->incarnation.ulid, parsed->number};
  if (mutated(Mutant::disk_key_without_incarnation)) table.incarnation = {};
  return table;
}

SecondTier* Table::tier() const {
  return identity_ ? cache_.second_tier() : nullptr;
}

Blob Table::from_tier(const BlockHandle& handle, BlockType type) const {
  SecondTier* const second = tier();
  if (second == nullptr) return nullptr;
  const TierKey key{*identity_, handle.offset};
  Blob stored = second->get(key, handle.length);
  if (!stored) return nullptr;
  env_.trace.sometimes("a block came from the second tier", true);
  if (mutated(Mutant::disk_block_unchecked) || check_block(*stored, handle, type)) return stored;
  env_.trace.sometimes("a damaged block of the second tier was refused", true);
  second->refuse(key);
  return nullptr;
}

Result<Blob> Table::rows_from_tier(const BlockHandle& handle) const {
  Blob stored = from_tier(handle, BlockType::kRows);
  if (!stored) return Blob();
  auto unpacked = unpack_block({stored, *stored});
  MORULA_TRY(unpacked);
  return std::move(unpacked->owner);
}

bool Table::use_tail_of_tier() {
  SecondTier* const second = tier();
  if (second == nullptr) return false;
  const TierKey key{*identity_, TierKey::kTail};
  const Blob sealed = second->get(key, 0);
  if (!sealed) return false;
  const auto tail = unsealed_tail(key_, *sealed);
  const bool whole = tail && tail->size() >= TableFooter::kBytes && tail->size() <= bytes_;
  if (whole && use_tail(*tail) && !top_.bytes.empty()) return true;
  footer_ = {};
  second->refuse(key);
  return false;
}

void Table::offer(const BlockHandle& handle, const Blob& owner, std::string_view block) const {
  if (SecondTier* const second = tier()) second->put({*identity_, handle.offset}, owner, block);
}

void Table::offer_section(const Blob& owner, uint64_t begin, const SectionHandle& section,
                          bool sound) const {
  if (tier() == nullptr) return;
  const std::string_view block = part_at(*owner, begin, section.block);
  const auto parts = SectionParts::of(block);
  if (!parts) return;
  offer(section.block, owner, block);
  BlockCursor index(Block{nullptr, parts->index});
  for (index.seek_first(); index.valid(); index.next()) {
    const auto handle = BlockHandle::decode(index.row().value);
    if (!handle) return;
    const std::string_view rows = part_at(*owner, begin, *handle);
    // Not all of what was read with it was looked at.
    if (sound || check_block(rows, *handle, BlockType::kRows)) offer(*handle, owner, rows);
  }
}

void Table::offer_tail(std::string_view tail) const {
  SecondTier* const second = tier();
  if (second == nullptr || footer_.index.offset < bytes_ - tail.size()) return;
  const Blob sealed =
      make_blob(sealed_tail(key_, tail.substr(footer_.index.offset - (bytes_ - tail.size()))));
  second->put({*identity_, TierKey::kTail}, sealed, *sealed);
}

void Table::offer_all(const Blob& object) const {
  if (tier() == nullptr || object->size() != bytes_) return;
  offer_tail(*object);
  BlockCursor top(top_);
  for (top.seek_first(); top.valid(); top.next()) {
    const auto section = SectionHandle::decode(top.row().value);
    if (!section) return;
    offer_section(object, 0, *section, true);
  }
}

void Table::leave_tier() const {
  if (SecondTier* const second = tier()) second->drop(*identity_);
}

}  // namespace morula
