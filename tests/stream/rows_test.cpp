#include "core/stream/rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/codec.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

const StreamId kStream{1, 2};

std::string hot_value(const HotRow& row) {
  std::string value;
  encode_hot(row, value);
  return value;
}
std::string descriptor_value(const DescriptorRow& row) {
  std::string value;
  encode_descriptor(row, value);
  return value;
}
std::string producer_value(const ProducerRow& row) {
  std::string value;
  encode_producer(row, value);
  return value;
}
std::string sequence_value(std::string_view last) {
  std::string value;
  encode_sequence(last, value);
  return value;
}

Offset any_offset() {
  const auto count = rc::gen::inRange<uint64_t>(0, uint64_t{1} << 53);
  return {*count, *count};
}

Expiry::Kind any_expiry_kind() {
  return *rc::gen::element(Expiry::Kind::kNone, Expiry::Kind::kTtl, Expiry::Kind::kAt);
}

/// Nothing but the whole value decodes.
template <class Decode>
void check_strict(const std::string& value, Decode decode) {
  for (size_t n = 0; n < value.size(); ++n) RC_ASSERT(!decode(value.substr(0, n)));
  RC_ASSERT(!decode(value + 'x'));
  RC_ASSERT(!decode('\x02' + value.substr(1)));
}

RC_GTEST_PROP(RowsProperty, AHotRowIsReadBackAndHasAtMost40Bytes, ()) {
  HotRow row;
  row.tail = any_offset();
  row.json = *rc::gen::arbitrary<bool>();
  row.has_sequence = *rc::gen::arbitrary<bool>();
  row.expiry_kind = any_expiry_kind();
  row.content_type_code = *rc::gen::arbitrary<uint8_t>();
  if (*rc::gen::arbitrary<bool>()) row.deadline = WallTime{*rc::gen::arbitrary<int64_t>()};
  row.check = *rc::gen::arbitrary<uint64_t>();
  const std::string value = hot_value(row);
  RC_ASSERT(value.size() <= 40u);
  RC_ASSERT(decode_hot(value) == row);
  check_strict(value, decode_hot);
}

TEST(Rows, AHotRowWithUnknownFlagsIsCorrupt) {
  std::string value = hot_value({});
  for (const uint8_t flags : {0x08, 0x30, 0x40, 0x80}) {
    value[1] = static_cast<char>(flags);
    EXPECT_EQ(decode_hot(value).error().code, ErrorCode::kCorrupt) << int{flags};
  }
}

RC_GTEST_PROP(RowsProperty, ADescriptorIsReadBack, ()) {
  DescriptorRow row;
  row.content_type = *rc::gen::arbitrary<std::string>();
  row.expiry.kind = any_expiry_kind();
  row.expiry.ttl_seconds = *rc::gen::arbitrary<uint64_t>();
  row.expiry.at.ms = *rc::gen::arbitrary<int64_t>();
  row.expiry.text = *rc::gen::arbitrary<std::string>();
  row.created.ms = *rc::gen::arbitrary<int64_t>();
  row.tenant = *rc::gen::arbitrary<std::string>();
  row.path = *rc::gen::arbitrary<std::string>();
  const std::string value = descriptor_value(row);
  const auto read = decode_descriptor(value);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->content_type == row.content_type);
  RC_ASSERT(read->expiry.same_as(row.expiry));
  RC_ASSERT(read->expiry.text == row.expiry.text);
  RC_ASSERT(read->created == row.created);
  RC_ASSERT(read->tenant == row.tenant);
  RC_ASSERT(read->path == row.path);
  check_strict(value, decode_descriptor);
}

RC_GTEST_PROP(RowsProperty, ProducersAndSequencesAreReadBack, (uint64_t epoch, uint64_t seq)) {
  const ProducerRow producer{epoch, seq, any_offset()};
  RC_ASSERT(decode_producer(producer_value(producer)) == producer);
  check_strict(producer_value(producer), decode_producer);
  const auto last = *rc::gen::arbitrary<std::string>();
  RC_ASSERT(decode_sequence(sequence_value(last)) == last);
  check_strict(sequence_value(last), decode_sequence);
}

struct Batch {
  std::vector<std::string> messages;
  std::string bytes;
  std::string lengths;

  explicit Batch(std::vector<std::string> m) : messages(std::move(m)) {
    for (const std::string& message : messages) {
      bytes += message;
      if (messages.size() > 1) Encoder(lengths).varint(message.size());
    }
  }
  Row row(Offset start) const {
    const Offset end{start.messages + messages.size(), start.bytes + bytes.size()};
    std::string value;
    encode_data(start, {bytes, lengths, messages.size()}, value);
    return {Tree::kData, row_key::data(kStream, Generation(3), end), ChangeNumber(1), false, value};
  }
};

/// nullopt when the row is corrupt somewhere.
std::optional<std::vector<std::string>> messages_of(const Row& row) {
  auto data = DataRow::decode(row);
  if (!data) return std::nullopt;
  std::vector<std::string> messages;
  for (;;) {
    const auto message = data->next();
    if (!message) return std::nullopt;
    if (!*message) return messages;
    messages.emplace_back(**message);
  }
}

Batch any_batch() {
  return Batch(*rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty<std::string>())));
}

RC_GTEST_PROP(RowsProperty, ADataRowIsReadBackMessageByMessage, ()) {
  const Batch batch = any_batch();
  const Offset start = any_offset();
  const Row row = batch.row(start);
  RC_ASSERT(messages_of(row) == batch.messages);

  auto data = DataRow::decode(row);
  Offset at = start;
  RC_ASSERT(data->start() == start);
  for (const std::string& message : batch.messages) {
    RC_ASSERT(data->position() == at);
    RC_ASSERT((*data->next()).has_value());
    at = {at.messages + 1, at.bytes + message.size()};
  }
  RC_ASSERT(data->position() == at);
  RC_ASSERT(data->end() == at);
}

RC_GTEST_PROP(RowsProperty, ADataRowUnderAnotherKeyOrCutIsCorrupt, ()) {
  const Row row = any_batch().row(any_offset());
  const Offset end = row_key::parse(Tree::kData, row.key)->end;
  Row other = row;
  other.key = row_key::data(kStream, Generation(3), {end.messages + 1, end.bytes});
  RC_ASSERT(!messages_of(other));
  other.key = row_key::data(kStream, Generation(3), {end.messages, end.bytes + 1});
  RC_ASSERT(!messages_of(other));
  other = row;
  other.value.resize(*rc::gen::inRange<size_t>(0, row.value.size()));
  RC_ASSERT(!messages_of(other));
  other.value = row.value + 'x';
  RC_ASSERT(!messages_of(other));
}

RC_GTEST_PROP(RowsProperty, AnyBytesAreRejectedOrRead, (std::string value)) {
  const Row row{Tree::kData, row_key::data(kStream, Generation(3), {3, 9}), ChangeNumber(1), false,
                *rc::gen::element(std::string("\x01"), std::string("\x01\x00\x00\x03", 4)) + value};
  messages_of(row);
  decode_hot(value);
  decode_descriptor(value);
  decode_producer(value);
  decode_sequence(value);
}

/// What is read from damaged bytes of a row is what those bytes stand for.
template <class Decode, class Encode>
void expect_damage_is_refused_or_harmless(const std::string& value, Decode decode, Encode encode) {
  with_damage(value, 5000, [&](const std::string& wrong) {
    const auto read = decode(wrong);
    if (read) {
      EXPECT_EQ(encode(*read), wrong);
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
  });
}

TEST(Rows, DamageIsRefusedOrHarmless) {
  HotRow hot;
  hot.tail = {300, 70'000};
  hot.json = true;
  hot.expiry_kind = Expiry::Kind::kAt;
  hot.deadline = WallTime{1'800'000'000'000};
  hot.check = 0x0123456789abcdef;
  expect_damage_is_refused_or_harmless(hot_value(hot), decode_hot, hot_value);
  DescriptorRow descriptor;
  descriptor.content_type = "image/png";
  descriptor.expiry = *Expiry::parse_ttl("60");
  descriptor.created = WallTime{1'800'000'000'000};
  descriptor.tenant = "default";
  descriptor.path = "a/b";
  expect_damage_is_refused_or_harmless(descriptor_value(descriptor), decode_descriptor,
                                       descriptor_value);
  expect_damage_is_refused_or_harmless(producer_value({1, 300, {2, 70'000}}), decode_producer,
                                       producer_value);
  expect_damage_is_refused_or_harmless(sequence_value("2026-11"), decode_sequence, sequence_value);
}

TEST(Rows, DamagedDataIsRefusedOrReadToItsEnd) {
  const Row row = Batch({"one", "three", std::string(200, 'x')}).row({7, 70});
  with_damage(row.value, 5000, [&](const std::string& wrong) {
    Row damaged_row = row;
    damaged_row.value = wrong;
    messages_of(damaged_row);
  });
  with_damage(row.key, 5000, [&](const std::string& wrong) {
    Row damaged_row = row;
    damaged_row.key = wrong;
    messages_of(damaged_row);
  });
}

}  // namespace
}  // namespace morula
