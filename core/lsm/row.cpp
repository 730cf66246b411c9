#include "core/lsm/row.hpp"

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

std::string_view to_string(Tree tree) {
  return tree == Tree::kMeta ? "meta" : "data";
}

namespace row_key {
namespace {

constexpr size_t kStreamBytes = 16;
constexpr size_t kGenerationBytes = 8;
constexpr size_t kMetaBytesMin = kStreamBytes + kGenerationBytes + 1;
constexpr size_t kDataBytes = kStreamBytes + kGenerationBytes + 16;

}  // namespace

std::string stream(StreamId id) {
  std::string key;
  key.reserve(kDataBytes);
  Encoder out(key);
  out.u64_ordered(id.high);
  out.u64_ordered(id.low);
  return key;
}

std::string generation(StreamId id, Generation generation) {
  std::string key = stream(id);
  Encoder(key).u64_ordered(~generation.value);
  return key;
}

std::string meta(StreamId id, Generation generation, RowKind kind, std::string_view suffix) {
  std::string key = row_key::generation(id, generation);
  Encoder out(key);
  out.u8(static_cast<uint8_t>(kind));
  out.raw(suffix);
  return key;
}

std::string data(StreamId id, Generation generation, Offset end) {
  std::string key = row_key::generation(id, generation);
  Encoder out(key);
  out.u64_ordered(end.messages);
  out.u64_ordered(end.bytes);
  return key;
}

Result<Parts> parse(Tree tree, std::string_view key) {
  Decoder in(key);
  Parts parts;
  parts.id.high = in.u64_ordered();
  parts.id.low = in.u64_ordered();
  parts.generation = Generation(~in.u64_ordered());
  if (tree == Tree::kData) {
    parts.end.messages = in.u64_ordered();
    parts.end.bytes = in.u64_ordered();
    MORULA_TRY(in.finish("key of a data row"));
    return parts;
  }
  const uint8_t kind = in.u8();
  if (in.failed()) return fail(ErrorCode::kCorrupt, "key of a meta row: too short");
  if (kind > static_cast<uint8_t>(RowKind::kSequence)) {
    return fail(ErrorCode::kCorrupt,
                "key of a meta row: unknown kind " + std::to_string(static_cast<int>(kind)));
  }
  parts.kind = static_cast<RowKind>(kind);
  parts.suffix = key.substr(kMetaBytesMin);
  if (parts.kind != RowKind::kProducer && !parts.suffix.empty()) {
    return fail(ErrorCode::kCorrupt, "key of a meta row: only a producer's may have a suffix");
  }
  return parts;
}

StreamId stream_id(std::string_view key) {
  Decoder in(key);
  StreamId id;
  id.high = in.u64_ordered();
  id.low = in.u64_ordered();
  MORULA_CHECK(!in.failed(), "a row's key begins with its stream");
  return id;
}

}  // namespace row_key

}  // namespace morula
