#include "core/log/log_object.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula {

namespace {

constexpr std::string_view kMagic = "morulaLG";
constexpr uint8_t kFormatVersion = 1;
constexpr uint8_t kBatch = 1;
constexpr uint8_t kFence = 2;
constexpr size_t kNameBytes = 63;
constexpr size_t kWallFloorAt = 188;
constexpr size_t kHeaderBytes = 204;
constexpr size_t kChecksumBytes = 8;
static_assert(kHeaderBytes + kChecksumBytes == kLogFenceBytes);

void encode_incarnation(Encoder& out, const IncarnationId& incarnation) {
  const std::string& name = incarnation.name;
  MORULA_CHECK(!name.empty() && name.size() <= kNameBytes, "an instance's name has 1 to 63 bytes");
  out.u8(static_cast<uint8_t>(name.size()));
  out.raw(name);
  for (size_t i = name.size(); i < kNameBytes; ++i) out.u8(0);
  out.u64(incarnation.ulid.high);
  out.u64(incarnation.ulid.low);
}

/// The header with a floor, count and size of zero.
void encode_header(std::string& bytes, uint8_t kind, const IncarnationId& incarnation, LogSeq seq,
                   const IncarnationId& writer, uint64_t nonce) {
  Encoder out(bytes);
  out.raw(kMagic);
  out.u8(kFormatVersion);
  out.u8(0);
  out.u8(kind);
  out.u8(0);
  encode_incarnation(out, incarnation);
  encode_incarnation(out, writer);
  out.u64(seq.value);
  out.u64(nonce);
  out.u64(0);
  out.u32(0);
  out.u32(0);
  MORULA_CHECK(bytes.size() == kHeaderBytes);
}

void overwrite(std::string& bytes, size_t at, std::string_view with) {
  bytes.replace(at, with.size(), with);
}

void append_checksum(std::string& bytes) {
  const uint64_t sum = checksum(bytes);
  Encoder(bytes).u64(sum);
}

bool decode_incarnation(Decoder& in, IncarnationId& incarnation) {
  const size_t length = in.u8();
  const std::string_view padded = in.raw(kNameBytes);
  incarnation.ulid.high = in.u64();
  incarnation.ulid.low = in.u64();
  if (in.failed() || length > kNameBytes) return false;
  incarnation.name = padded.substr(0, length);
  return is_valid_instance_name(incarnation.name) &&
         padded.find_first_not_of('\0', length) == std::string_view::npos;
}

tl::unexpected<Error> damaged(const char* what) {
  return fail(ErrorCode::kCorrupt, std::string("not a log object: ") + what);
}

/// Everything after the header, which must be exactly `count` records.
Result<> decode_records(Decoder& in, uint32_t count, std::vector<LogRecord>& records) {
  // The smallest record has 17 bytes: a count that cannot fit reserves nothing.
  if (count > in.remaining() / 17) return damaged("fewer records than it says");
  records.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    LogRecord record;
    record.id.high = in.u64();
    record.id.low = in.u64();
    record.payload = in.string();
    if (in.failed()) return damaged("a record passes the end");
    records.push_back(record);
  }
  if (!in.at_end()) return damaged("bytes after the last record");
  return {};
}

}  // namespace

LogBatchBuilder::LogBatchBuilder(const IncarnationId& incarnation, LogSeq seq, uint64_t nonce,
                                 size_t reserve)
    : seq_(seq) {
  bytes_.reserve(reserve);
  encode_header(bytes_, kBatch, incarnation, seq, incarnation, nonce);
}

void LogBatchBuilder::add(StreamId id, std::string_view payload) {
  Encoder out(bytes_);
  out.u64(id.high);
  out.u64(id.low);
  out.string(payload);
  ++records_;
}

size_t LogBatchBuilder::bytes() const {
  return bytes_.size() + kChecksumBytes;
}

std::string LogBatchBuilder::finish(WallTime wall_floor) {
  MORULA_CHECK(records_ > 0, "an empty batch would be taken for a fence");
  const size_t record_bytes = bytes_.size() - kHeaderBytes;
  MORULA_CHECK(record_bytes <= UINT32_MAX && records_ <= UINT32_MAX);
  std::string fields;
  Encoder out(fields);
  out.u64(static_cast<uint64_t>(wall_floor.ms));
  out.u32(static_cast<uint32_t>(records_));
  out.u32(static_cast<uint32_t>(record_bytes));
  overwrite(bytes_, kWallFloorAt, fields);
  append_checksum(bytes_);
  records_ = 0;
  return std::exchange(bytes_, {});
}

std::string encode_fence(const IncarnationId& incarnation, LogSeq seq, const IncarnationId& writer,
                         uint64_t nonce) {
  std::string bytes;
  bytes.reserve(kLogFenceBytes);
  encode_header(bytes, kFence, incarnation, seq, writer, nonce);
  append_checksum(bytes);
  return bytes;
}

Result<LogObject> decode_log_object(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return damaged("the magic is missing");
  if (bytes.size() < kLogFenceBytes) return damaged("too short");
  const std::string_view summed = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (Decoder(bytes.substr(summed.size())).u64() != checksum(summed)) {
    return damaged("the checksum is wrong");
  }
  Decoder in(summed.substr(kMagic.size()));
  const uint8_t version = in.u8();
  if (in.u8() != 0 || version != kFormatVersion) return damaged("unknown format version");
  const uint8_t kind = in.u8();
  if (in.u8() != 0 || (kind != kBatch && kind != kFence)) return damaged("unknown kind");
  LogObject object;
  object.is_fence = kind == kFence;
  if (!decode_incarnation(in, object.incarnation)) return damaged("no incarnation");
  if (!decode_incarnation(in, object.writer)) return damaged("no writer");
  object.seq = LogSeq(in.u64());
  object.nonce = in.u64();
  object.wall_floor = WallTime{static_cast<int64_t>(in.u64())};
  const uint32_t count = in.u32();
  const uint32_t record_bytes = in.u32();
  if (record_bytes != in.remaining()) return damaged("another size than it says");
  if (object.is_fence != (count == 0)) return damaged("a batch has records, a fence has none");
  if (object.is_fence && object.wall_floor != WallTime{}) return damaged("a fence with a floor");
  if (!object.is_fence && object.writer != object.incarnation) return damaged("a foreign batch");
  MORULA_TRY(decode_records(in, count, object.records));
  return object;
}

}  // namespace morula
