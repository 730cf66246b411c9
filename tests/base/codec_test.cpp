#include "core/base/codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace morula {
namespace {

struct Fields {
  uint8_t a;
  uint32_t b;
  uint64_t c;
  uint64_t d;
  uint64_t e;
  std::string f;
};

std::string encode(const Fields& fields) {
  std::string out;
  Encoder encoder(out);
  encoder.u8(fields.a);
  encoder.u32(fields.b);
  encoder.u64(fields.c);
  encoder.u64_ordered(fields.d);
  encoder.varint(fields.e);
  encoder.string(fields.f);
  return out;
}

Fields decode(Decoder& decoder) {
  Fields fields;
  fields.a = decoder.u8();
  fields.b = decoder.u32();
  fields.c = decoder.u64();
  fields.d = decoder.u64_ordered();
  fields.e = decoder.varint();
  fields.f = std::string(decoder.string());
  return fields;
}

Fields any_fields() {
  return {*rc::gen::arbitrary<uint8_t>(),
          *rc::gen::arbitrary<uint32_t>(),
          *rc::gen::arbitrary<uint64_t>(),
          *rc::gen::arbitrary<uint64_t>(),
          *rc::gen::arbitrary<uint64_t>() >> *rc::gen::inRange(0, 64),
          *rc::gen::arbitrary<std::string>()};
}

RC_GTEST_PROP(Codec, ReadsBackWhatItWrote, ()) {
  const Fields in = any_fields();
  const std::string bytes = encode(in);
  Decoder decoder(bytes);
  const Fields out = decode(decoder);
  RC_ASSERT(decoder.finish("fields").has_value());
  RC_ASSERT(std::tie(in.a, in.b, in.c, in.d, in.e, in.f) ==
            std::tie(out.a, out.b, out.c, out.d, out.e, out.f));
}

RC_GTEST_PROP(Codec, EveryTruncationFailsAndReadsZerosAfterwards, ()) {
  const std::string bytes = encode(any_fields());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A buffer of exactly this size: AddressSanitizer sees a read past its end.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    Decoder decoder(std::string_view(cut.data(), cut.size()));
    decode(decoder);
    RC_ASSERT(decoder.failed());
    RC_ASSERT(decoder.u64() == 0u);
    RC_ASSERT(decoder.string().empty());
    RC_ASSERT(decoder.finish("fields").error().code == ErrorCode::kCorrupt);
  }
}

RC_GTEST_PROP(Codec, ReadsAnyBytesWithoutPassingTheirEnd, (const std::vector<char>& bytes)) {
  Decoder decoder(std::string_view(bytes.data(), bytes.size()));
  for (int i = 0; i < 20; ++i) {
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        decoder.u8();
        break;
      case 1:
        decoder.u32();
        break;
      case 2:
        decoder.u64();
        break;
      case 3:
        decoder.varint();
        break;
      case 4:
        decoder.string();
        break;
      default:
        decoder.raw(*rc::gen::inRange<size_t>(0, 9));
    }
    RC_ASSERT(decoder.remaining() <= bytes.size());
  }
}

RC_GTEST_PROP(Codec, OrderedNumbersCompareAsBytes, (uint64_t a, uint64_t b)) {
  std::string a_bytes;
  std::string b_bytes;
  Encoder(a_bytes).u64_ordered(a);
  Encoder(b_bytes).u64_ordered(b);
  RC_ASSERT((a < b) == (a_bytes < b_bytes));
}

RC_GTEST_PROP(Codec, OneVarintHasOneEncoding, (const std::vector<char>& bytes)) {
  Decoder decoder(std::string_view(bytes.data(), bytes.size()));
  const uint64_t v = decoder.varint();
  if (decoder.failed()) return;
  std::string again;
  Encoder(again).varint(v);
  RC_ASSERT(again == std::string(bytes.data(), bytes.size() - decoder.remaining()));
}

TEST(Codec, RefusesVarintsThatAreTooLong) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {"\x80\x00"s, "\xff\x80\x00"s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"s}) {
    Decoder decoder(bytes);
    EXPECT_EQ(decoder.varint(), 0u);
    EXPECT_TRUE(decoder.failed());
  }
  Decoder largest("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(largest.varint(), ~uint64_t{0});
  EXPECT_TRUE(largest.finish("varint"));
}

TEST(Codec, TellsHowManyBytesAreTooMany) {
  Decoder decoder("abc");
  decoder.u8();
  EXPECT_EQ(decoder.finish("thing").error().message, "thing: 2 bytes too many");
}

TEST(Codec, BytesAreTheSameOnEveryMachine) {
  using namespace std::string_literals;
  EXPECT_EQ(encode({1, 2, 3, 4, 300, "xy"}),
            "\x01\x02\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\xac\x02\x02xy"s);
  EXPECT_EQ(checksum("morula"), 8625741029698850116u);
}

RC_GTEST_PROP(Checksum, SeesEveryFlippedBit, (std::string bytes)) {
  const uint64_t sum = checksum(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    RC_ASSERT(checksum(bytes) != sum);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

}  // namespace
}  // namespace morula
