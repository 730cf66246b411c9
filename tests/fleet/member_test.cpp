#include "core/fleet/member.hpp"

#include <gtest/gtest.h>

#include "core/rt/random.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

Member sample() {
  Random random(1);
  Member member;
  member.version = Version(7);
  member.incarnation = {"a-1", Ulid::draw(WallTime{1000}, random)};
  member.state = MemberState::kExpired;
  member.lease = std::chrono::seconds(12);
  member.address = "http://127.0.0.1:4437";
  member.acknowledged = LogSeq(42);
  member.process = {"boot", "pid:[1]", 77, 123456};
  member.writer = {"b", Ulid::draw(WallTime{2000}, random)};
  member.nonce = Ulid::draw(WallTime{3000}, random);
  return member;
}

TEST(Member, ReadsBackWhatWasWritten) {
  const Member member = sample();
  const auto read = decode_member(encode_member(member));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(encode_member(*read), encode_member(member));
  EXPECT_EQ(read->version, Version(7));
  EXPECT_EQ(read->state, MemberState::kExpired);
  EXPECT_EQ(read->lease, Duration(std::chrono::seconds(12)));
  EXPECT_EQ(read->process, member.process);
}

TEST(Member, FindsEveryFlippedBit) {
  const std::string text = encode_member(sample());
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const auto read = decode_member(damaged);
      // White space may turn into other white space: then nothing has changed.
      if (read) {
        EXPECT_EQ(encode_member(*read), text) << "byte " << i << " bit " << bit;
      }
    }
  }
}

TEST(Member, DamageIsRefusedOrHarmless) {
  expect_damage_is_refused_or_harmless({"morula-member", 2}, encode_member(sample()), encode_member,
                                       decode_member);
}

TEST(Member, NamesTheWrongField) {
  const auto read = decode_member(R"({"kind": "morula-topology", "format": 1, "checksum": ""})");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(read.error().message.find("morula-member"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace morula
