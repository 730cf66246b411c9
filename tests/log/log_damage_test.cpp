// Log objects that are wrong behind a right checksum: of a writer that is, or of an attacker.
#include <gtest/gtest.h>

#include "core/base/codec.hpp"
#include "tests/base/damage.hpp"
#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

constexpr size_t kChecksumBytes = 8;

std::string sealed(std::string body) {
  const uint64_t sum = checksum(body);
  Encoder(body).u64(sum);
  return body;
}

/// The bytes that stand for `object`.
std::string encode(const LogObject& object) {
  if (object.is_fence) {
    return encode_fence(object.incarnation, object.seq, object.writer, object.nonce);
  }
  LogBatchBuilder builder(object.incarnation, object.seq, object.nonce);
  for (const LogRecord& record : object.records) builder.add(record.id, record.payload);
  return builder.finish(object.wall_floor);
}

void expect_damage_is_refused_or_harmless(const std::string& object) {
  const auto check = [](const std::string& wrong) {
    const auto read = decode_log_object(wrong);
    if (read) {
      EXPECT_EQ(encode(*read), wrong);
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
  };
  with_damage(object, 5000, check);
  with_damage(object.substr(0, object.size() - kChecksumBytes), 20'000,
              [&](const std::string& body) { check(sealed(body)); });
}

TEST(LogObject, DamageOfABatchIsRefusedOrHarmless) {
  LogBatchBuilder builder(kOwner, LogSeq(7), 99);
  builder.add(kStream, "");
  builder.add(kStream, "short");
  builder.add(StreamId{1, 2}, std::string(200, 'x'));
  expect_damage_is_refused_or_harmless(builder.finish(WallTime{1'800'000'000'000}));
}

TEST(LogObject, DamageOfAFenceIsRefusedOrHarmless) {
  expect_damage_is_refused_or_harmless(fence_bytes(7, kTaker));
}

}  // namespace
}  // namespace morula::log_test
