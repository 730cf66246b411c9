#include "prod/directory/redo_record.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/codec.hpp"
#include "prod/posix_file.hpp"

namespace morula {
namespace {

constexpr uint32_t kMagic = 0x4f44524d;  // "MRDO"
// Checksum, magic, length of the content, log, generation.
constexpr size_t kFrameBytes = 8 + 4 + 4 + 8 + 8;

enum class Kind : uint8_t { kObject = 1, kVoids = 2, kSegment = 3 };

void encode(Encoder& out, const FileIdentity& file) {
  out.u64(file.inode);
  out.u64(static_cast<uint64_t>(file.modified));
  out.u64(file.size);
}

FileIdentity decode_identity(Decoder& in) {
  FileIdentity file;
  file.inode = in.u64();
  file.modified = static_cast<int64_t>(in.u64());
  file.size = in.u64();
  return file;
}

std::optional<ParsedRedo> parse_content(std::string_view content, ParsedRedo parsed) {
  Decoder in(content);
  switch (Kind{in.u8()}) {
    case Kind::kObject: {
      RedoObject object;
      object.path = in.string();
      object.file = decode_identity(in);
      object.named = static_cast<int64_t>(in.u64());
      object.body = in.string();
      parsed.what = std::move(object);
      break;
    }
    case Kind::kVoids: {
      std::vector<RedoVoid> voids;
      while (!in.failed() && !in.at_end()) {
        RedoVoid gone;
        gone.removed = in.u8() != 0;
        gone.path = in.string();
        gone.file = decode_identity(in);
        voids.push_back(std::move(gone));
      }
      parsed.what = std::move(voids);
      break;
    }
    case Kind::kSegment:
      parsed.what = RedoSegment{in.u64()};
      break;
    default:
      return std::nullopt;
  }
  if (!in.finish("a redo record")) return std::nullopt;
  return parsed;
}

}  // namespace

FileIdentity identity_of(const struct stat& info) {
  return {info.st_ino, nanoseconds(info.st_mtim), static_cast<uint64_t>(info.st_size)};
}

RedoContent redo_content(const RedoObject& object) {
  RedoContent content{{}, object.body};
  Encoder out(content.head);
  out.u8(static_cast<uint8_t>(Kind::kObject));
  out.string(object.path);
  encode(out, object.file);
  out.u64(static_cast<uint64_t>(object.named));
  out.varint(object.body.size());
  return content;
}

RedoContent redo_content(std::span<const RedoVoid> voids) {
  RedoContent content;
  Encoder out(content.head);
  out.u8(static_cast<uint8_t>(Kind::kVoids));
  for (const RedoVoid& gone : voids) {
    out.u8(gone.removed ? 1 : 0);
    out.string(gone.path);
    encode(out, gone.file);
  }
  return content;
}

RedoContent redo_content(const RedoSegment& segment) {
  RedoContent content;
  Encoder out(content.head);
  out.u8(static_cast<uint8_t>(Kind::kSegment));
  out.u64(segment.bytes);
  return content;
}

size_t redo_bytes(const RedoContent& content) {
  const size_t bytes = kFrameBytes + content.head.size() + content.body.size();
  return (bytes + kRedoBlock - 1) / kRedoBlock * kRedoBlock;
}

void write_redo(char* out, const RedoFrame& frame, const RedoContent& content) {
  const size_t length = content.head.size() + content.body.size();
  std::string fields;
  Encoder encoder(fields);
  encoder.u32(kMagic);
  encoder.u32(static_cast<uint32_t>(length));
  encoder.u64(frame.log);
  encoder.u64(frame.generation);
  char* at = out + 8;
  for (const std::string_view part :
       {std::string_view(fields), std::string_view(content.head), content.body}) {
    at = std::copy(part.begin(), part.end(), at);  // a frame may have no body, which is nowhere
  }
  std::memset(at, 0, redo_bytes(content) - static_cast<size_t>(at - out));
  std::string sum;
  Encoder(sum).u64(checksum({out + 8, static_cast<size_t>(at - out) - 8}));
  std::copy(sum.begin(), sum.end(), out);
}

std::optional<ParsedRedo> parse_redo(std::string_view from) {
  Decoder in(from);
  const uint64_t sum = in.u64();
  const uint32_t magic = in.u32();
  const uint32_t length = in.u32();
  ParsedRedo parsed;
  parsed.frame.log = in.u64();
  parsed.frame.generation = in.u64();
  if (in.failed() || magic != kMagic || length > in.remaining()) return std::nullopt;
  if (checksum(from.substr(8, kFrameBytes - 8 + length)) != sum) return std::nullopt;
  parsed.bytes = (kFrameBytes + length + kRedoBlock - 1) / kRedoBlock * kRedoBlock;
  return parse_content(from.substr(kFrameBytes, length), std::move(parsed));
}

}  // namespace morula
