#include "core/stream/rows.hpp"

#include "core/base/codec.hpp"
#include "core/stream/content_type.hpp"

namespace morula {

namespace {

constexpr uint8_t kFormat = 1;

constexpr uint8_t kJsonFlag = 1;
constexpr uint8_t kSequenceFlag = 2;
constexpr uint8_t kDeadlineFlag = 4;
constexpr int kExpiryShift = 4;  // two bits
constexpr uint8_t kKnownFlags = 0x37;

tl::unexpected<Error> corrupt(std::string_view what) {
  return fail(ErrorCode::kCorrupt, std::string(what) + " row: a value that cannot be");
}

Result<Expiry::Kind> expiry_kind(uint8_t number, std::string_view what) {
  if (number > static_cast<uint8_t>(Expiry::Kind::kAt)) return corrupt(what);
  return static_cast<Expiry::Kind>(number);
}

/// Every value begins with the format's number.
Result<> read_format(Decoder& in, std::string_view what) {
  if (const uint8_t format = in.u8(); format != kFormat) {
    return fail(ErrorCode::kCorrupt,
                std::string(what) + " row: format " + std::to_string(format) + " is not known");
  }
  return {};
}

void write_offset(Encoder& out, Offset offset) {
  out.varint(offset.messages);
  out.varint(offset.bytes);
}

Offset read_offset(Decoder& in) {
  Offset offset;
  offset.messages = in.varint();
  offset.bytes = in.varint();
  return offset;
}

}  // namespace

void encode_hot(const HotRow& row, std::string& value) {
  Encoder out(value);
  out.u8(kFormat);
  out.u8(static_cast<uint8_t>((row.json ? kJsonFlag : 0) | (row.has_sequence ? kSequenceFlag : 0) |
                              (row.deadline ? kDeadlineFlag : 0) |
                              static_cast<uint8_t>(row.expiry_kind) << kExpiryShift));
  out.u8(row.content_type_code);
  out.u64(row.tail.messages);
  out.u64(row.tail.bytes);
  out.u64(static_cast<uint64_t>(row.deadline.value_or(WallTime{}).ms));
  out.u64(row.check);
}

Result<HotRow> decode_hot(std::string_view value) {
  Decoder in(value);
  MORULA_TRY(read_format(in, "hot"));
  HotRow row;
  const uint8_t flags = in.u8();
  if ((flags & ~kKnownFlags) != 0) return corrupt("hot");
  const auto kind = expiry_kind(flags >> kExpiryShift, "hot");
  MORULA_TRY(kind);
  row.expiry_kind = *kind;
  row.json = (flags & kJsonFlag) != 0;
  row.has_sequence = (flags & kSequenceFlag) != 0;
  row.content_type_code = in.u8();
  row.tail.messages = in.u64();
  row.tail.bytes = in.u64();
  const WallTime deadline{static_cast<int64_t>(in.u64())};
  if ((flags & kDeadlineFlag) != 0) row.deadline = deadline;
  if ((flags & kDeadlineFlag) == 0 && deadline.ms != 0) return corrupt("hot");
  row.check = in.u64();
  MORULA_TRY(in.finish("hot row"));
  return row;
}

std::optional<WallTime> deadline_of_hot_row(std::string_view value) {
  const auto row = decode_hot(value);
  return row ? row->deadline : std::nullopt;
}

std::optional<std::string> listing_of_descriptor_row(std::string_view value, StreamId id,
                                                     Generation generation) {
  const auto row = decode_descriptor(value);
  const auto is_name = [](std::string_view name) {
    return !name.empty() && name.find('\0') == std::string_view::npos;
  };
  if (!row || !is_name(row->tenant) || !is_name(row->path)) return std::nullopt;
  return row_key::listing(row->tenant, row->path, generation, id);
}

void encode_descriptor(const DescriptorRow& row, std::string& value) {
  Encoder out(value);
  out.u8(kFormat);
  out.string(row.content_type);
  out.u8(static_cast<uint8_t>(row.expiry.kind));
  out.varint(row.expiry.ttl_seconds);
  out.u64(static_cast<uint64_t>(row.expiry.at.ms));
  out.string(row.expiry.text);
  out.u64(static_cast<uint64_t>(row.created.ms));
  out.string(row.tenant);
  out.string(row.path);
}

Result<DescriptorRow> decode_descriptor(std::string_view value) {
  Decoder in(value);
  MORULA_TRY(read_format(in, "descriptor"));
  DescriptorRow row;
  row.content_type = std::string(in.string());
  const auto kind = expiry_kind(in.u8(), "descriptor");
  MORULA_TRY(kind);
  row.expiry.kind = *kind;
  row.expiry.ttl_seconds = in.varint();
  row.expiry.at.ms = static_cast<int64_t>(in.u64());
  row.expiry.text = std::string(in.string());
  row.created.ms = static_cast<int64_t>(in.u64());
  row.tenant = std::string(in.string());
  row.path = std::string(in.string());
  MORULA_TRY(in.finish("descriptor row"));
  return row;
}

void encode_producer(const ProducerRow& row, std::string& value) {
  Encoder out(value);
  out.u8(kFormat);
  out.varint(row.epoch);
  out.varint(row.seq);
  write_offset(out, row.tail);
}

Result<ProducerRow> decode_producer(std::string_view value) {
  Decoder in(value);
  MORULA_TRY(read_format(in, "producer"));
  ProducerRow row;
  row.epoch = in.varint();
  row.seq = in.varint();
  row.tail = read_offset(in);
  MORULA_TRY(in.finish("producer row"));
  return row;
}

void encode_index(const IndexRow& row, std::string& value) {
  const uint8_t code = content_type_code(row.content_type);
  Encoder out(value);
  out.u8(kFormat);
  out.u8(row.first_deadline ? kDeadlineFlag : 0);
  out.u8(code);
  out.varint(static_cast<uint64_t>(row.created.ms));
  if (row.first_deadline) out.varint(static_cast<uint64_t>(row.first_deadline->ms));
  if (code == 0) out.raw(row.content_type);
}

Result<IndexRow> decode_index(std::string_view value) {
  Decoder in(value);
  MORULA_TRY(read_format(in, "index"));
  const uint8_t flags = in.u8();
  if ((flags & ~kDeadlineFlag) != 0) return corrupt("index");
  const uint8_t code = in.u8();
  const char* content_type = content_type_of(code);
  if (code != 0 && content_type == nullptr) return corrupt("index");
  IndexRow row;
  row.created.ms = static_cast<int64_t>(in.varint());
  if (flags != 0) row.first_deadline = WallTime{static_cast<int64_t>(in.varint())};
  row.content_type = code != 0 ? content_type : in.raw(in.remaining());
  MORULA_TRY(in.finish("index row"));
  if (code == 0 && content_type_code(row.content_type) != 0) return corrupt("index");
  return row;
}

void encode_sequence(std::string_view last, std::string& value) {
  Encoder out(value);
  out.u8(kFormat);
  out.string(last);
}

Result<std::string> decode_sequence(std::string_view value) {
  Decoder in(value);
  MORULA_TRY(read_format(in, "sequence"));
  std::string last(in.string());
  MORULA_TRY(in.finish("sequence row"));
  return last;
}

void encode_data(Offset start, const Messages& messages, std::string& value) {
  Encoder out(value);
  out.u8(kFormat);
  write_offset(out, start);
  out.varint(messages.count);
  out.raw(messages.lengths);
  out.raw(messages.bytes);
}

Result<DataRow> DataRow::decode(const RowView& row) {
  const auto key = row_key::parse(Tree::kData, row.key);
  MORULA_TRY(key);
  Decoder in(row.value);
  MORULA_TRY(read_format(in, "data"));
  DataRow data;
  data.start_ = data.position_ = read_offset(in);
  data.end_ = key->end;
  const uint64_t count = in.varint();
  const std::string_view rest = in.raw(in.remaining());
  if (in.failed() || count == 0 || data.start_.messages > data.end_.messages ||
      data.end_.messages - data.start_.messages != count || data.start_.bytes > data.end_.bytes) {
    return corrupt("data");
  }
  const uint64_t bytes = data.end_.bytes - data.start_.bytes;
  if (bytes < count || bytes > rest.size()) return corrupt("data");
  data.lengths_ = rest.substr(0, rest.size() - bytes);
  data.bytes_ = rest.substr(rest.size() - bytes);
  if (count == 1 && !data.lengths_.empty()) return corrupt("data");
  return data;
}

Result<std::optional<std::string_view>> DataRow::next() {
  if (position_.messages == end_.messages) {
    if (!lengths_.empty() || !bytes_.empty()) return corrupt("data");
    return std::nullopt;
  }
  uint64_t length = bytes_.size();  // of the only message
  if (end_.messages - start_.messages > 1) {
    Decoder in(lengths_);
    length = in.varint();
    if (in.failed()) return corrupt("data");
    lengths_.remove_prefix(lengths_.size() - in.remaining());
  }
  if (length == 0 || length > bytes_.size()) return corrupt("data");
  const std::string_view message = bytes_.substr(0, length);
  bytes_.remove_prefix(length);
  position_.messages += 1;
  position_.bytes += length;
  return message;
}

}  // namespace morula
