#include "core/lsm/row.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

std::string_view to_string(Tree tree) {
  switch (tree) {
    case Tree::kMeta:
      return "meta";
    case Tree::kData:
      return "data";
    case Tree::kIndex:
      return "index";
  }
  return "unknown";
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
constexpr size_t kIndexTailBytes = kGenerationBytes + kStreamBytes;
constexpr char kAboveZero = 1;       // below every byte of a path
constexpr char kAbovePath = '\xff';  // above every byte of a path, which is UTF-8

Result<Parts> parse_index(std::string_view key) {
  const auto wrong = [](std::string what) {
    return fail(ErrorCode::kCorrupt, "key of an index row: " + std::move(what));
  };
  if (key.size() <= kIndexTailBytes) return wrong("too short");
  if (key[0] != static_cast<char>(IndexKind::kListing)) {
    return wrong("unknown kind " + std::to_string(static_cast<uint8_t>(key[0])));
  }
  std::string_view names = key.substr(1, key.size() - 1 - kIndexTailBytes);
  Parts parts;
  parts.tenant = names.substr(0, names.find('\0'));
  names.remove_prefix(std::min(names.size(), parts.tenant.size() + 1));
  parts.path = names.substr(0, names.find('\0'));
  if (parts.tenant.empty() || parts.path.empty() || names.size() != parts.path.size() + 1) {
    return wrong("tenant and path don't fill it");
  }
  Decoder in(key.substr(key.size() - kIndexTailBytes));
  parts.generation = Generation(~in.u64_ordered());
  parts.id.high = in.u64_ordered();
  parts.id.low = in.u64_ordered();
  return parts;
}

/// What the keys of these streams begin with.
std::string listing_front(std::string_view tenant, std::string_view path) {
  std::string key(1, static_cast<char>(IndexKind::kListing));
  key.append(tenant).push_back('\0');
  key.append(path);
  return key;
}

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

std::string listing(std::string_view tenant, std::string_view path, Generation generation,
                    StreamId id) {
  MORULA_CHECK(!tenant.empty() && tenant.find('\0') == std::string_view::npos);
  MORULA_CHECK(!path.empty() && path.find('\0') == std::string_view::npos);
  std::string key = listing_front(tenant, path);
  key.push_back('\0');
  // The same bytes that other trees' keys begin with, the other way round.
  const std::string creation = row_key::generation(id, generation);
  key.append(creation, kStreamBytes, kGenerationBytes);
  key.append(creation, 0, kStreamBytes);
  return key;
}

std::string listing_begin(std::string_view tenant, std::string_view prefix) {
  return listing_front(tenant, prefix);
}

std::string listing_end(std::string_view tenant, std::string_view prefix) {
  return listing_front(tenant, prefix) + kAbovePath;
}

std::string listing_after(std::string_view tenant, std::string_view path) {
  return listing_front(tenant, path) + kAboveZero;
}

Result<Parts> parse(Tree tree, std::string_view key) {
  if (tree == Tree::kIndex) return parse_index(key);
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

StreamId stream_id(Tree tree, std::string_view key) {
  if (tree != Tree::kIndex) return stream_id(key);
  MORULA_CHECK(key.size() > kIndexTailBytes, "an index row's key ends with its stream");
  return stream_id(key.substr(key.size() - kStreamBytes));
}

std::string_view place(Tree tree, std::string_view key) {
  if (tree != Tree::kIndex) return key.substr(0, kStreamBytes);
  MORULA_CHECK(key.size() > kIndexTailBytes, "an index row's key ends with its stream");
  return key.substr(0, key.size() - kIndexTailBytes);
}

}  // namespace row_key

}  // namespace morula
