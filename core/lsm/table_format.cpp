#include "core/lsm/table_format.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"
#include "core/base/mutant.hpp"
#include "core/lsm/section.hpp"

namespace morula {
namespace {

constexpr std::string_view kMagic = "morulaTB";
// The last bytes of a footer, whatever its format: format, footer's length, checksum, magic.
constexpr size_t kEndBytes = 4 + 4 + 8 + 8;

void put_handle(Encoder& out, const BlockHandle& handle) {
  out.u64(handle.offset);
  out.u64(handle.length);
  out.u64(handle.checksum);
}

BlockHandle take_handle(Decoder& in) {
  BlockHandle handle;
  handle.offset = in.u64();
  handle.length = in.u64();
  handle.checksum = in.u64();
  return handle;
}

tl::unexpected<Error> corrupt(std::string message) {
  return fail(ErrorCode::kCorrupt, std::move(message));
}

}  // namespace

BlockHandle BlockHandle::of(std::string_view block, uint64_t offset) {
  return {offset, block.size(), morula::checksum(block)};
}

std::string BlockHandle::encode() const {
  std::string bytes;
  Encoder out(bytes);
  out.varint(offset);
  out.varint(length);
  out.u64(checksum);
  return bytes;
}

Result<BlockHandle> BlockHandle::decode(std::string_view bytes) {
  Decoder in(bytes);
  BlockHandle handle;
  handle.offset = in.varint();
  handle.length = in.varint();
  handle.checksum = in.u64();
  MORULA_TRY(in.finish("handle of a block"));
  return handle;
}

std::string TableFooter::encode() const {
  std::string bytes;
  Encoder out(bytes);
  out.u8(static_cast<uint8_t>(tree));
  put_handle(out, index);
  out.u64(rows);
  out.u64(tombstones);
  out.u64(streams);
  out.string(std::string_view(first_key).substr(0, kFirstKeyBytes));
  bytes.resize(kBytes - kEndBytes);
  out.u32(kFormat);
  out.u32(kBytes);
  out.u64(morula::checksum(bytes));
  out.raw(kMagic);
  MORULA_CHECK(bytes.size() == kBytes);
  return bytes;
}

Result<TableFooter> TableFooter::decode(std::string_view bytes, uint64_t object_bytes) {
  if (bytes.size() < kEndBytes || !bytes.ends_with(kMagic)) {
    return corrupt("footer: the last bytes are not those of a table");
  }
  Decoder end(bytes.substr(bytes.size() - kEndBytes));
  const uint32_t format = end.u32();
  const uint32_t footer_bytes = end.u32();
  const uint64_t expected = end.u64();
  if (footer_bytes < kEndBytes || footer_bytes > bytes.size()) {
    return corrupt("footer: its length is wrong");
  }
  bytes.remove_prefix(bytes.size() - footer_bytes);
  if (checksum(bytes.substr(0, bytes.size() - 16)) != expected) {
    return corrupt("footer: the checksum is wrong");
  }
  if (format != kFormat) {
    return corrupt("footer: table format " + std::to_string(format) + ", this program reads " +
                   std::to_string(kFormat));
  }
  Decoder in(bytes.substr(0, bytes.size() - kEndBytes));
  TableFooter footer;
  const uint8_t tree = in.u8();
  footer.tree = static_cast<Tree>(tree);
  footer.index = take_handle(in);
  footer.rows = in.u64();
  footer.tombstones = in.u64();
  footer.streams = in.u64();
  footer.first_key = in.string();
  if (in.failed() || footer.first_key.size() > TableFooter::kFirstKeyBytes ||
      tree > static_cast<uint8_t>(kTrees.back()) || footer.rows == 0 ||
      footer.index.offset <= kTableHeaderBytes || footer.index.offset > object_bytes ||
      footer.index.length > object_bytes || footer.index.end() + footer_bytes != object_bytes) {
    return corrupt("footer: its parts don't fit together, or the object's length is wrong");
  }
  return footer;
}

std::string table_header(Tree tree) {
  std::string bytes;
  Encoder out(bytes);
  out.raw(kMagic);
  out.u32(TableFooter::kFormat);
  out.u32(static_cast<uint32_t>(tree));
  out.u64(checksum(bytes));
  MORULA_CHECK(bytes.size() == kTableHeaderBytes);
  return bytes;
}

Result<> check_block(std::string_view bytes, const BlockHandle& handle, BlockType type) {
  const auto damaged = [&](const char* what) {
    return corrupt(std::string(to_string(type)) + " block at " + std::to_string(handle.offset) +
                   ": " + what);
  };
  if (bytes.size() != handle.length) return damaged("the length is wrong");
  if (checksum(bytes) != handle.checksum && !mutated(Mutant::checksum_ignored)) {
    return damaged("the checksum is wrong");
  }
  const auto is = [&](BlockType other) { return bytes.starts_with(static_cast<char>(other)); };
  if (is(type) || (type == BlockType::kRows && is(BlockType::kPackedRows))) return {};
  return damaged("it has another type");
}

std::string_view part_at(std::string_view bytes, uint64_t begin, const BlockHandle& handle) {
  if (handle.offset < begin || handle.offset - begin > bytes.size() ||
      handle.length > bytes.size() - (handle.offset - begin)) {
    return {};
  }
  return bytes.substr(handle.offset - begin, handle.length);
}

Result<> check_table(std::string_view object, Tree tree) {
  const auto footer = TableFooter::decode(
      object.substr(object.size() - std::min(object.size(), TableFooter::kBytes)), object.size());
  if (!footer) return fail(footer.error());
  if (footer->tree != tree) return corrupt("footer: it is a table of another tree");
  if (!object.starts_with(table_header(tree))) return corrupt("header: it is damaged");
  const std::string_view index = part_at(object, 0, footer->index);
  MORULA_TRY(check_block(index, footer->index, BlockType::kIndex));
  uint64_t offset = kTableHeaderBytes;
  BlockCursor top(Block{nullptr, index});
  for (top.seek_first(); top.valid(); top.next()) {
    const auto section = SectionHandle::decode(top.row().value);
    MORULA_TRY(section);
    if (section->begin() != offset) return corrupt("index: the sections don't lie side by side");
    MORULA_TRY(check_section(object, 0, *section));
    offset = section->end();
  }
  if (top.damaged() || offset != footer->index.offset) {
    return corrupt("index: it does not cover the rows");
  }
  return {};
}

}  // namespace morula
