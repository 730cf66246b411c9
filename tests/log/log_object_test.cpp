#include "core/log/log_object.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/base/codec.hpp"

namespace morula {
namespace {

struct Record {
  StreamId id;
  std::string payload;
};

IncarnationId incarnation(const std::string& name, uint64_t number) {
  return {name, Ulid{number, ~number}};
}

const IncarnationId kOwner = incarnation("a-1", 7);
const IncarnationId kTaker = incarnation(std::string(63, 'z'), 8);

std::string batch_of(const std::vector<Record>& records, LogSeq seq = LogSeq(5),
                     uint64_t nonce = 99, WallTime floor = WallTime{-3}) {
  LogBatchBuilder builder(kOwner, seq, nonce);
  for (const Record& record : records) builder.add(record.id, record.payload);
  return builder.finish(floor);
}

std::vector<Record> draw_records() {
  const auto sizes = *rc::gen::container<std::vector<uint16_t>>(rc::gen::inRange<uint16_t>(0, 300));
  std::vector<Record> records;
  for (const uint16_t size : sizes) {
    StreamId id{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
    records.push_back({id, std::string(size, static_cast<char>(size))});
  }
  if (records.empty()) records.push_back({StreamId{1, 2}, ""});
  return records;
}

RC_GTEST_PROP(LogObject, ABatchComesBackAsItWasBuilt, ()) {
  const auto records = draw_records();
  const LogSeq seq(*rc::gen::arbitrary<uint64_t>());
  const auto nonce = *rc::gen::arbitrary<uint64_t>();
  const WallTime floor{*rc::gen::arbitrary<int64_t>()};
  LogBatchBuilder builder(kOwner, seq, nonce);
  for (const Record& record : records) builder.add(record.id, record.payload);
  RC_ASSERT(builder.records() == records.size());
  const size_t announced = builder.bytes();
  const std::string bytes = builder.finish(floor);
  RC_ASSERT(bytes.size() == announced);

  const auto object = decode_log_object(bytes);
  RC_ASSERT(object.has_value());
  RC_ASSERT(object->incarnation == kOwner);
  RC_ASSERT(object->writer == kOwner);
  RC_ASSERT(object->seq == seq);
  RC_ASSERT(object->nonce == nonce);
  RC_ASSERT(object->wall_floor == floor);
  RC_ASSERT(!object->is_fence);
  RC_ASSERT(object->records.size() == records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    RC_ASSERT(object->records[i].id == records[i].id);
    RC_ASSERT(object->records[i].payload == records[i].payload);
  }
}

TEST(LogObject, AFenceComesBackAsItWasBuilt) {
  const std::string bytes = encode_fence(kOwner, LogSeq(12), kTaker, 34);
  const auto object = decode_log_object(bytes);
  ASSERT_TRUE(object.has_value());
  EXPECT_TRUE(object->is_fence);
  EXPECT_EQ(object->incarnation, kOwner);
  EXPECT_EQ(object->writer, kTaker);
  EXPECT_EQ(object->seq, LogSeq(12));
  EXPECT_EQ(object->nonce, 34u);
  EXPECT_TRUE(object->records.empty());
}

TEST(LogObject, ItsSizeTellsAFenceFromABatch) {
  EXPECT_EQ(encode_fence(kOwner, LogSeq(0), kTaker, 1).size(), kLogFenceBytes);
  EXPECT_EQ(encode_fence(kTaker, LogSeq(UINT64_MAX), kOwner, 1).size(), kLogFenceBytes);
  EXPECT_GT(batch_of({{StreamId{}, ""}}).size(), kLogFenceBytes);
}

TEST(LogObject, EveryTruncationIsDamage) {
  for (const std::string& bytes :
       {batch_of({{StreamId{1, 2}, "abc"}, {StreamId{3, 4}, std::string(200, 'x')}}),
        encode_fence(kOwner, LogSeq(3), kTaker, 1)}) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto object = decode_log_object(std::string_view(bytes).substr(0, size));
      ASSERT_FALSE(object.has_value()) << size;
      EXPECT_EQ(object.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST(LogObject, EveryFlippedBitIsDamage) {
  for (const std::string& bytes :
       {batch_of({{StreamId{1, 2}, "abc"}, {StreamId{3, 4}, std::string(200, 'x')}}),
        encode_fence(kOwner, LogSeq(3), kTaker, 1)}) {
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      const auto object = decode_log_object(flipped);
      ASSERT_FALSE(object.has_value()) << bit;
      EXPECT_EQ(object.error().code, ErrorCode::kCorrupt);
    }
  }
}

RC_GTEST_PROP(LogObject, AnyDamageOfALargeBatchIsFound, ()) {
  std::string bytes = batch_of(draw_records());
  const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
  if (*rc::gen::arbitrary<bool>()) {
    bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
  } else if (*rc::gen::arbitrary<bool>()) {
    bytes.erase(at, *rc::gen::inRange<size_t>(1, bytes.size() - at + 1));
  } else {
    bytes.insert(at, std::string(*rc::gen::inRange<size_t>(1, 20), '\0'));
  }
  RC_ASSERT(!decode_log_object(bytes).has_value());
}

/// `bytes` with one field replaced and the checksum made right: what only a wrong writer produces.
std::string resealed(std::string bytes, size_t at, std::string_view with) {
  bytes.replace(at, with.size(), with);
  bytes.resize(bytes.size() - 8);
  const uint64_t sum = checksum(bytes);
  Encoder(bytes).u64(sum);
  return bytes;
}

TEST(LogObject, WhatOnlyAWrongWriterProducesIsDamageToo) {
  const std::string batch = batch_of({{StreamId{1, 2}, "abc"}});
  const std::string fence = encode_fence(kOwner, LogSeq(3), kTaker, 1);
  ASSERT_TRUE(decode_log_object(resealed(batch, 8, std::string("\1\0", 2))).has_value());
  EXPECT_FALSE(decode_log_object(resealed(batch, 8, std::string("\2\0", 2)))) << "a later version";
  EXPECT_FALSE(decode_log_object(resealed(batch, 10, "\2"))) << "a fence with records";
  EXPECT_FALSE(decode_log_object(resealed(fence, 10, "\1"))) << "a batch without records";
  EXPECT_FALSE(decode_log_object(resealed(batch, 92 + 1, "b"))) << "a foreign batch";
  EXPECT_FALSE(decode_log_object(resealed(batch, 12 + 5, "x"))) << "a name after its end";
  EXPECT_FALSE(decode_log_object(resealed(batch, 12, "\x40"))) << "a name of 64 bytes";
  EXPECT_FALSE(decode_log_object(resealed(batch, 12 + 1, "A"))) << "a name with a capital";
  EXPECT_FALSE(decode_log_object(resealed(batch, 196, "\2"))) << "more records than there are";
  EXPECT_FALSE(decode_log_object(resealed(batch, 196, "\xff\xff\xff\xff"))) << "far more records";
  EXPECT_FALSE(decode_log_object(resealed(fence, 188, "\1"))) << "a fence with a floor";
}

TEST(LogObject, TwoWritersObjectsNeverHaveEqualBytes) {
  EXPECT_NE(encode_fence(kOwner, LogSeq(3), kTaker, 1), encode_fence(kOwner, LogSeq(3), kTaker, 2));
  EXPECT_NE(encode_fence(kOwner, LogSeq(3), kTaker, 1), encode_fence(kOwner, LogSeq(3), kOwner, 1));
  EXPECT_NE(batch_of({{StreamId{}, "x"}}, LogSeq(1), 1),
            batch_of({{StreamId{}, "x"}}, LogSeq(1), 2));
}

}  // namespace
}  // namespace morula
