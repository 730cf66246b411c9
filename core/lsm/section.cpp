#include "core/lsm/section.hpp"

#include <algorithm>

#include "core/base/codec.hpp"

namespace morula {

void SectionBuilder::add_block(std::string_view last, const BlockHandle& block) {
  index_.add({last, ChangeNumber(), false, block.encode()});
}

std::string SectionBuilder::finish() {
  std::string block;
  Encoder out(block);
  out.u8(static_cast<uint8_t>(BlockType::kSection));
  out.string(filter_.finish());
  out.raw(index_.finish());
  return block;
}

std::optional<SectionParts> SectionParts::of(std::string_view block) {
  Decoder in(block);
  in.u8();
  SectionParts parts;
  parts.filter = in.string();
  parts.index = in.raw(in.remaining());
  if (in.failed()) return std::nullopt;
  return parts;
}

std::string SectionHandle::encode() const {
  std::string bytes;
  Encoder(bytes).varint(rows_bytes);
  return bytes + block.encode();
}

Result<SectionHandle> SectionHandle::decode(std::string_view bytes) {
  Decoder in(bytes);
  SectionHandle section;
  section.rows_bytes = in.varint();
  const auto block = BlockHandle::decode(in.raw(in.remaining()));
  MORULA_TRY(block);
  section.block = *block;
  const uint64_t rows_end = section.block.offset;
  if (rows_end < kTableHeaderBytes || section.rows_bytes > rows_end - kTableHeaderBytes ||
      section.block.length > UINT64_MAX - rows_end) {
    return fail(ErrorCode::kCorrupt, "handle of a section: it has no place");
  }
  return section;
}

Result<> check_section(std::string_view bytes, uint64_t begin, const SectionHandle& section) {
  const std::string_view block = part_at(bytes, begin, section.block);
  MORULA_TRY(check_block(block, section.block, BlockType::kSection));
  const auto parts = SectionParts::of(block);
  if (!parts) return fail(ErrorCode::kCorrupt, "section: it does not decode");
  uint64_t offset = section.begin();
  BlockCursor index(Block{nullptr, parts->index});
  for (index.seek_first(); index.valid(); index.next()) {
    const auto rows = BlockHandle::decode(index.row().value);
    MORULA_TRY(rows);
    if (rows->offset != offset) {
      return fail(ErrorCode::kCorrupt, "section: its blocks don't lie side by side");
    }
    MORULA_TRY(check_block(part_at(bytes, begin, *rows), *rows, BlockType::kRows));
    offset = rows->end();
  }
  if (!index.damaged() && offset == section.block.offset) return {};
  return fail(ErrorCode::kCorrupt, "section: it does not cover its rows");
}

std::string_view separator(std::string_view last, std::string_view next) {
  const auto shared = static_cast<size_t>(std::ranges::mismatch(last, next).in1 - last.begin());
  return shared + 1 < next.size() ? next.substr(0, shared + 1) : last;
}

}  // namespace morula
