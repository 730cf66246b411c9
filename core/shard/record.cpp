#include "core/shard/record.hpp"

#include <optional>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

namespace {

constexpr uint8_t kDataTree = 1;
constexpr uint8_t kDeleted = 2;
constexpr uint8_t kIndexTree = 4;

uint8_t bit_of(Tree tree) {
  switch (tree) {
    case Tree::kMeta:
      return 0;
    case Tree::kData:
      return kDataTree;
    case Tree::kIndex:
      return kIndexTree;
  }
  return 0;
}

/// nullopt: no tree has these.
std::optional<Tree> tree_of(uint8_t bits) {
  for (const Tree tree : kTrees) {
    if (bits == bit_of(tree)) return tree;
  }
  return std::nullopt;
}

std::string_view without_id(Tree tree, std::string_view key) {
  return tree == Tree::kIndex ? key.substr(0, key.size() - row_key::kStreamBytes)
                              : key.substr(row_key::kStreamBytes);
}

}  // namespace

void encode_record(StreamId id, const ChangedRows& rows, std::string& out) {
  Encoder encoder(out);
  encoder.varint(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [tree, row] = rows[i];
    MORULA_CHECK(row_key::stream_id(tree, row.key) == id, "a record is of one stream");
    encoder.u8(static_cast<uint8_t>(bit_of(tree) | (row.deleted ? kDeleted : 0)));
    encoder.varint(row.change.value);
    encoder.string(without_id(tree, row.key));
    encoder.string(row.value);
  }
}

Result<std::vector<Row>> decode_record(StreamId id, std::string_view payload) {
  Decoder decoder(payload);
  const std::string prefix = row_key::stream(id);
  const uint64_t count = decoder.varint();
  std::vector<Row> rows;
  for (uint64_t i = 0; i < count && !decoder.failed(); ++i) {
    const uint8_t bits = decoder.u8();
    const auto tree = tree_of(bits & ~kDeleted);
    if (!tree) return fail(ErrorCode::kCorrupt, "record: unknown row bits");
    Row row;
    row.tree = *tree;
    row.deleted = (bits & kDeleted) != 0;
    row.change = ChangeNumber(decoder.varint());
    const std::string_view rest = decoder.string();
    row.key = row.tree == Tree::kIndex ? std::string(rest) + prefix : prefix + std::string(rest);
    row.value = decoder.string();
    if (decoder.failed()) break;
    MORULA_TRY(row_key::parse(row.tree, row.key));
    rows.push_back(std::move(row));
  }
  MORULA_TRY(decoder.finish("record"));
  return rows;
}

}  // namespace morula
