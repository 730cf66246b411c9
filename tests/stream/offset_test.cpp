#include "core/stream/offset.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula {
namespace {

constexpr uint64_t kCounts = 10'000'000'000'000'000;

TEST(Offset, TheStartIsAllZeros) {
  EXPECT_EQ(offset_text({}), "0000000000000000_0000000000000000");
}

RC_GTEST_PROP(OffsetProperty, TextIsReadBackAndSortsAsTheOffsetsDo, ()) {
  const auto count = rc::gen::inRange<uint64_t>(0, kCounts);
  const Offset a{*count, *count};
  const Offset b{*rc::gen::element(a.messages, *count), *count};
  RC_ASSERT(parse_offset(offset_text(a)) == a);
  RC_ASSERT((a < b) == (offset_text(a) < offset_text(b)));
  RC_ASSERT(offset_text(a).size() == 33u);
}

TEST(Offset, NothingElseIsAnOffset) {
  for (const char* text :
       {"", "-1", "now", "0", "0_0", "0000000000000000-0000000000000000",
        "0000000000000000_000000000000000", "0000000000000000_00000000000000000",
        "000000000000000a_0000000000000000", "0000000000000000_000000000000000 ",
        "+000000000000001_0000000000000000", "0000000000000000_0000000000000000\n"}) {
    EXPECT_EQ(parse_offset(text).error().code, ErrorCode::kInvalid) << text;
  }
}

}  // namespace
}  // namespace morula
