#include "core/stream/expiry.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace morula {
namespace {

TEST(Expiry, ATtlIsDigitsWithoutLeadingZeros) {
  EXPECT_EQ(Expiry::parse_ttl("0")->ttl_seconds, 0u);
  EXPECT_EQ(Expiry::parse_ttl("3600")->ttl_seconds, 3600u);
  EXPECT_EQ(Expiry::parse_ttl("9007199254740991")->ttl_seconds, 9007199254740991u);
  for (const char* text : {"", "+3600", "-1", "03600", "00", "3600.0", "3.6e3", "1e3", " 1", "1 ",
                           "0x10", "9007199254740992", "99999999999999999999", "1h"}) {
    EXPECT_EQ(Expiry::parse_ttl(text).error().code, ErrorCode::kInvalid) << text;
  }
}

struct Instant {
  const char* text;
  int64_t ms;
};

TEST(Expiry, ReadsTimesOfRfc3339) {
  for (const Instant& instant : {
           Instant{"1970-01-01T00:00:00Z", 0},
           Instant{"1970-01-01T00:00:00.001Z", 1},
           Instant{"1969-12-31T23:59:59.999Z", -1},
           Instant{"1985-04-12T23:20:50.52Z", 482196050520},
           Instant{"1996-12-19T16:39:57-08:00", 851042397000},
           Instant{"1990-12-31T23:59:60Z", 662688000000},
           Instant{"1990-12-31T15:59:60-08:00", 662688000000},
           Instant{"1937-01-01T12:00:27.87+00:20", -1041337172130},
           Instant{"2000-02-29T00:00:00z", 951782400000},
           Instant{"2024-10-09t00:00:00Z", 1728432000000},
           Instant{"9999-12-31T23:59:59.9999999Z", 253402300799999},
           Instant{"0000-01-01T00:00:00Z", -62167219200000},
           Instant{"2030-01-01T00:00:00+23:59", 1893369660000},
       }) {
    const auto expiry = Expiry::parse_at(instant.text);
    ASSERT_TRUE(expiry) << instant.text;
    EXPECT_EQ(expiry->at.ms, instant.ms) << instant.text;
    EXPECT_EQ(expiry->text, instant.text);
  }
}

TEST(Expiry, RejectsWhatIsNoTimeOfRfc3339) {
  for (const char* text : {"",
                           "tomorrow",
                           "1728432000",
                           "2024-10-09",
                           "2024-10-09T00:00:00",
                           "2024-10-09 00:00:00Z",
                           "2024-10-09T00:00Z",
                           "2024-1-09T00:00:00Z",
                           "2024-13-01T00:00:00Z",
                           "2024-00-01T00:00:00Z",
                           "2024-10-00T00:00:00Z",
                           "2024-02-30T00:00:00Z",
                           "2023-02-29T00:00:00Z",
                           "1900-02-29T00:00:00Z",
                           "2024-10-09T24:00:00Z",
                           "2024-10-09T00:60:00Z",
                           "2024-10-09T00:00:61Z",
                           "2024-10-09T00:00:60Z",
                           "1990-12-31T23:59:60+01:00",
                           "2024-10-09T00:00:00.Z",
                           "2024-10-09T00:00:00+0100",
                           "2024-10-09T00:00:00+24:00",
                           "2024-10-09T00:00:00+01:60",
                           "2024-10-09T00:00:00Z ",
                           "+2024-10-09T00:00:00Z",
                           "12024-10-09T00:00:00Z"}) {
    EXPECT_EQ(Expiry::parse_at(text).error().code, ErrorCode::kInvalid) << text;
  }
}

TEST(Expiry, ATimeHasAtMost64Bytes) {
  const auto with_digits = [](size_t n) {
    return "2030-01-01T00:00:00." + std::string(n, '1') + "Z";
  };
  EXPECT_EQ(Expiry::parse_at(with_digits(43))->at.ms, 1893456000111);
  EXPECT_FALSE(Expiry::parse_at(with_digits(44)));
}

TEST(Expiry, ADeadlineIsATtlAfterCreationOrTheTimeItself) {
  EXPECT_EQ(Expiry::none().deadline(WallTime{5}), std::nullopt);
  EXPECT_EQ(Expiry::parse_ttl("0")->deadline(WallTime{5}), WallTime{5});
  EXPECT_EQ(Expiry::parse_ttl("2")->deadline(WallTime{5}), WallTime{2005});
  EXPECT_EQ(Expiry::parse_at("1970-01-01T00:00:01Z")->deadline(WallTime{5}), WallTime{1000});
}

TEST(Expiry, ATtlIsPersistedAnEighthAhead) {
  EXPECT_EQ(Expiry::none().deadline_ahead(WallTime{5}), std::nullopt);
  EXPECT_EQ(Expiry::parse_ttl("0")->deadline_ahead(WallTime{5}), WallTime{5});
  EXPECT_EQ(Expiry::parse_ttl("8")->deadline_ahead(WallTime{5}), WallTime{9005});
  EXPECT_EQ(Expiry::parse_at("1970-01-01T00:00:01Z")->deadline_ahead(WallTime{5}), WallTime{1000});
}

TEST(Expiry, ADeadlineBeyondAllTimeIsTheEndOfTime) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Expiry::parse_ttl("9007199254740991")->deadline(WallTime{kLast - 1}), WallTime{kLast});
  EXPECT_EQ(Expiry::parse_ttl("9007199254740991")->deadline_ahead(WallTime{kLast - 1}),
            WallTime{kLast});
}

TEST(Expiry, IsTheSameHoweverItIsWritten) {
  const auto at = [](const char* text) { return *Expiry::parse_at(text); };
  EXPECT_TRUE(at("2030-01-01T00:00:00Z").same_as(at("2030-01-01T01:00:00+01:00")));
  EXPECT_FALSE(at("2030-01-01T00:00:00Z").same_as(at("2030-01-01T00:00:01Z")));
  EXPECT_FALSE(at("2030-01-01T00:00:00Z").same_as(Expiry::none()));
  EXPECT_TRUE(Expiry::parse_ttl("7")->same_as(*Expiry::parse_ttl("7")));
  EXPECT_FALSE(Expiry::parse_ttl("7")->same_as(*Expiry::parse_ttl("8")));
  EXPECT_FALSE(Expiry::parse_ttl("0")->same_as(Expiry::none()));
}

// The calendar, day by day, against counting.
TEST(Expiry, DaysFollowEachOther) {
  int64_t days = -719'528;  // from 1970-01-01 back to 0000-01-01
  const auto is_leap = [](int y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); };
  for (int year = 0; year <= 2400; ++year) {
    for (int month = 1; month <= 12; ++month) {
      const int length = month == 2 ? (is_leap(year) ? 29 : 28)
                         : month == 4 || month == 6 || month == 9 || month == 11 ? 30
                                                                                 : 31;
      char text[32];
      std::snprintf(text, sizeof(text), "%04d-%02d-01T00:00:00Z", year, month);
      ASSERT_EQ(Expiry::parse_at(text)->at.ms, days * 86'400'000) << text;
      days += length;
      std::snprintf(text, sizeof(text), "%04d-%02d-%02dT00:00:00Z", year, month, length + 1);
      ASSERT_FALSE(Expiry::parse_at(text)) << text;
    }
  }
}

}  // namespace
}  // namespace morula
