#include "core/shard/record.hpp"

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

namespace {

constexpr size_t kIdBytes = 16;
constexpr uint8_t kDataTree = 1;
constexpr uint8_t kDeleted = 2;

}  // namespace

void encode_record(StreamId id, const ChangedRows& rows, std::string& out) {
  Encoder encoder(out);
  encoder.varint(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [tree, row] = rows[i];
    MORULA_CHECK(row_key::stream_id(row.key) == id, "a record is of one stream");
    encoder.u8(
        static_cast<uint8_t>((tree == Tree::kData ? kDataTree : 0) | (row.deleted ? kDeleted : 0)));
    encoder.varint(row.change.value);
    encoder.string(row.key.substr(kIdBytes));
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
    if (bits > (kDataTree | kDeleted)) return fail(ErrorCode::kCorrupt, "record: unknown row bits");
    Row row;
    row.tree = (bits & kDataTree) != 0 ? Tree::kData : Tree::kMeta;
    row.deleted = (bits & kDeleted) != 0;
    row.change = ChangeNumber(decoder.varint());
    row.key = prefix;
    row.key.append(decoder.string());
    row.value = decoder.string();
    if (decoder.failed()) break;
    MORULA_TRY(row_key::parse(row.tree, row.key));
    rows.push_back(std::move(row));
  }
  MORULA_TRY(decoder.finish("record"));
  return rows;
}

}  // namespace morula
