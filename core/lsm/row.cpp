#include "core/lsm/row.hpp"

#include <cstring>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

std::string_view to_string(Tree tree) {
  return tree == Tree::kMeta ? "meta" : "data";
}

ShortKey ShortKey::meta(StreamId id, Generation generation, RowKind kind) {
  ShortKey key = stream(id);
  key.add(~generation.value);
  key.bytes_[key.size_++] = static_cast<char>(kind);
  return key;
}

ShortKey ShortKey::data(StreamId id, Generation generation, Offset end) {
  ShortKey key = stream(id);
  key.add(~generation.value);
  key.add(end.messages);
  key.add(end.bytes);
  return key;
}

ShortKey ShortKey::stream(StreamId id) {
  ShortKey key;
  key.add(id.high);
  key.add(id.low);
  return key;
}

void ShortKey::add(uint64_t number) {
  const uint64_t ordered = __builtin_bswap64(number);
  std::memcpy(bytes_.data() + size_, &ordered, sizeof(ordered));
  size_ += sizeof(ordered);
}

namespace row_key {
namespace {

constexpr size_t kGenerationBytes = 8;
constexpr size_t kMetaBytesMin = kStreamBytes + kGenerationBytes + 1;
}  // namespace

std::string stream(StreamId id) {
  return std::string(ShortKey::stream(id));
}

std::string generation(StreamId id, Generation generation) {
  return std::string(std::string_view(ShortKey::meta(id, generation, {}))
                         .substr(0, kStreamBytes + kGenerationBytes));
}

std::string meta(StreamId id, Generation generation, RowKind kind, std::string_view suffix) {
  std::string key(ShortKey::meta(id, generation, kind));
  key.append(suffix);
  return key;
}

std::string data(StreamId id, Generation generation, Offset end) {
  return std::string(ShortKey::data(id, generation, end));
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
