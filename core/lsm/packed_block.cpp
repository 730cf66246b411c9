#include "core/lsm/packed_block.hpp"

#include <lz4.h>

#include "core/base/codec.hpp"
#include "core/base/units.hpp"

namespace morula {

namespace {

// A row is at most an append of 16 MiB and its key: larger blocks there are none.
constexpr uint64_t kUnpackedBytesMax = 64 * kMiB;

tl::unexpected<Error> undecodable() {
  return fail(ErrorCode::kCorrupt, "packed block: it does not unpack");
}

}  // namespace

std::string pack_block(std::string block) {
  if (block.size() > kUnpackedBytesMax) return block;
  std::string packed;
  Encoder out(packed);
  out.u8(static_cast<uint8_t>(BlockType::kPackedRows));
  out.varint(block.size());
  const size_t head = packed.size();
  // More than this is not worth it, and LZ4 gives up where it would be.
  const size_t worth = block.size() - block.size() / 8;
  packed.resize(head + worth);
  const int bytes = LZ4_compress_default(block.data(), packed.data() + head,
                                         static_cast<int>(block.size()), static_cast<int>(worth));
  if (bytes <= 0) return block;
  packed.resize(head + static_cast<size_t>(bytes));
  packed.shrink_to_fit();
  return packed;
}

Result<Block> unpack_block(Block stored) {
  if (!stored.bytes.starts_with(static_cast<char>(BlockType::kPackedRows))) return stored;
  Decoder in(stored.bytes);
  in.u8();
  const uint64_t bytes = in.varint();
  const std::string_view packed = in.raw(in.remaining());
  // LZ4 makes at most 255 bytes of one.
  if (in.failed() || bytes == 0 || bytes > kUnpackedBytesMax || bytes / 255 > packed.size()) {
    return undecodable();
  }
  std::string block(bytes, '\0');
  const int unpacked = LZ4_decompress_safe(
      packed.data(), block.data(), static_cast<int>(packed.size()), static_cast<int>(bytes));
  if (unpacked < 0 || static_cast<uint64_t>(unpacked) != bytes ||
      !block.starts_with(static_cast<char>(BlockType::kRows))) {
    return undecodable();
  }
  const Blob owner = make_blob(std::move(block));
  return Block{owner, *owner};
}

}  // namespace morula
