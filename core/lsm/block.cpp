#include "core/lsm/block.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {
namespace {

constexpr uint8_t kDeleted = 1;

size_t shared_length(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// A seek reads dozens of numbers, most of one byte: they are not worth a call.
bool take_varint(std::string_view& in, uint64_t& number) {
  if (!in.empty() && static_cast<uint8_t>(in.front()) < 0x80) {
    number = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    return true;
  }
  Decoder decoder(in);
  number = decoder.varint();
  in.remove_prefix(in.size() - decoder.remaining());
  return !decoder.failed();
}

uint32_t u32_at(std::string_view bytes, size_t place) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<uint8_t>(bytes[place + i]);
  return number;
}

}  // namespace

std::string_view to_string(BlockType type) {
  switch (type) {
    case BlockType::kRows:
      return "rows";
    case BlockType::kIndex:
      return "index";
    case BlockType::kSection:
      return "section";
    case BlockType::kPackedRows:
      return "packed rows";
  }
  return "unknown";
}

BlockBuilder::BlockBuilder(BlockType type, uint64_t restart_interval)
    : type_(type), restart_interval_(restart_interval), bytes_(1, static_cast<char>(type)) {}

void BlockBuilder::add(const RowView& row) {
  size_t shared = 0;
  if (rows_ % restart_interval_ == 0) {
    MORULA_CHECK(bytes_.size() <= UINT32_MAX);
    restarts_.push_back(static_cast<uint32_t>(bytes_.size() - 1));
  } else {
    shared = shared_length(last_key_, row.key);
  }
  Encoder out(bytes_);
  out.varint(shared);
  out.varint(row.key.size() - shared);
  out.varint(row.change.value);
  out.u8(row.deleted ? kDeleted : 0);
  out.varint(row.value.size());
  out.raw(row.key.substr(shared));
  out.raw(row.value);
  last_key_.assign(row.key);
  ++rows_;
}

std::string BlockBuilder::finish() {
  Encoder out(bytes_);
  for (const uint32_t restart : restarts_) out.u32(restart);
  out.u32(static_cast<uint32_t>(restarts_.size()));
  std::string block = std::move(bytes_);
  *this = BlockBuilder(type_, restart_interval_);
  return block;
}

BlockCursor::BlockCursor(Block block) : owner_(std::move(block.owner)) {
  const std::string_view bytes = block.bytes;
  if (bytes.size() < 1 + 4) {
    fail();
    return;
  }
  const uint64_t count = Decoder(bytes.substr(bytes.size() - 4)).u32();
  const uint64_t end_bytes = 4 * count + 4;
  if (count == 0 || end_bytes + 1 > bytes.size()) {
    fail();
    return;
  }
  rows_ = bytes.substr(1, bytes.size() - 1 - end_bytes);
  restarts_ = bytes.substr(bytes.size() - end_bytes, 4 * count);
}

void BlockCursor::fail() {
  damaged_ = true;
  valid_ = false;
}

void BlockCursor::seek_first() {
  if (damaged_) return;
  go_to_restart(0);
}

void BlockCursor::seek(std::string_view key) {
  if (damaged_) return;
  // The last restart point whose key is not greater, or the first of all.
  size_t low = 0;
  size_t high = restart_count();
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    go_to_restart(middle);
    if (!valid_) return fail();
    (key_ <= key ? low : high) = middle;
  }
  for (go_to_restart(low); valid_ && key_ < key; next()) {
  }
}

void BlockCursor::go_to_restart(size_t index) {
  position_ = u32_at(restarts_, 4 * index);
  key_.clear();
  if (position_ >= rows_.size()) return fail();
  read_row();
}

void BlockCursor::next() {
  if (position_ == rows_.size()) {
    valid_ = false;
  } else {
    read_row();
  }
}

void BlockCursor::read_row() {
  std::string_view in = rows_.substr(position_);
  uint64_t shared = 0;
  uint64_t rest = 0;
  uint64_t flags = 0;
  uint64_t value_bytes = 0;
  if (!take_varint(in, shared) || !take_varint(in, rest) || !take_varint(in, change_.value) ||
      !take_varint(in, flags) || !take_varint(in, value_bytes)) {
    return fail();
  }
  if (shared > key_.size() || flags > kDeleted || rest > in.size() ||
      value_bytes > in.size() - rest) {
    return fail();
  }
  deleted_ = flags == kDeleted;
  key_.resize(shared);
  key_.append(in.substr(0, rest));
  value_ = in.substr(rest, value_bytes);
  position_ = rows_.size() - in.size() + rest + value_bytes;
  valid_ = true;
}

}  // namespace morula
