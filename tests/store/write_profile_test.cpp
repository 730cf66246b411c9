#include "core/store/write_profile.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

Time at(int ms) {
  return Time{} + std::chrono::milliseconds(1000 + ms);
}

TEST(WriteProfile, AddsUpWhatRoundTripsCarriedAndTook) {
  WriteProfile profile;
  profile.began();
  profile.ended(at(0), at(10), 3);
  profile.began();
  profile.ended(at(20), at(50), 1);
  const auto& figures = profile.figures();
  EXPECT_EQ(figures.envelopes, 4u);
  EXPECT_EQ(figures.round_trips, 2u);
  EXPECT_EQ(figures.overlapped, 0u);
  EXPECT_EQ(figures.concurrent_peak, 1u);
  EXPECT_EQ(figures.total, std::chrono::milliseconds(40));
  EXPECT_EQ(figures.longest, std::chrono::milliseconds(30));
  EXPECT_EQ(figures.span(), std::chrono::milliseconds(50));
  EXPECT_DOUBLE_EQ(figures.envelopes_per_second(), 80);
}

TEST(WriteProfile, SeesWhichRoundTripsBeganWhileAnotherWasUnderWay) {
  WriteProfile profile;
  profile.began();
  profile.began();
  profile.began();
  profile.ended(at(0), at(3), 1);
  profile.ended(at(1), at(4), 1);
  profile.ended(at(2), at(5), 1);
  profile.began();
  profile.ended(at(6), at(7), 1);
  EXPECT_EQ(profile.figures().overlapped, 2u);
  EXPECT_EQ(profile.figures().concurrent_peak, 3u);
}

TEST(WriteProfile, BeginsAgainWithWhatIsUnderWay) {
  WriteProfile profile;
  profile.began();
  profile.reset();
  EXPECT_EQ(profile.figures().round_trips, 0u);
  profile.ended(at(0), at(2), 1);
  EXPECT_EQ(profile.figures().span(), std::chrono::milliseconds(2));
  profile.began();
  profile.reset();
  profile.began();
  profile.ended(at(1), at(2), 1);
  profile.ended(at(2), at(3), 1);
  EXPECT_EQ(profile.figures().envelopes, 2u);
  EXPECT_EQ(profile.figures().overlapped, 1u);
  EXPECT_EQ(profile.figures().concurrent_peak, 2u);
}

TEST(WriteProfile, OfNothingHasNoRate) {
  EXPECT_EQ(WriteProfile().figures().envelopes_per_second(), 0);
}

}  // namespace
}  // namespace morula
