#include "prod/disk_cache/disk_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "bench/quiet_env.hpp"
#include "tests/prod/directory_fixture.hpp"

namespace morula {
namespace {

/// Counts what is logged.
class CountingTrace final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity, std::string_view event, std::initializer_list<LogField>) override {
    if (event == "disk_cache_off") ++off;
  }
  void sometimes(std::string_view, bool) override {}
  int off = 0;
};

constexpr TierKey kKey{{{1, 2}, 3}, 4096};

void until(Loop& loop, const std::function<bool()>& done) {
  for (int polls = 0; polls < 2000 && !done(); ++polls) loop.sleep(std::chrono::milliseconds(5));
  EXPECT_TRUE(done());
}

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() { ::chmod(directory.path().c_str(), 0700); }
  std::unique_ptr<DiskCache> open() {
    auto opened = DiskCache::open(loop, trace, {directory.path().string(), 16 * kMiB});
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  TemporaryDirectory directory;
  Loop loop;
  CountingTrace trace;
};

TEST_F(DiskCacheTest, WhatIsOfferedIsGivenSoonAndAfterARestart) {
  loop.run_fiber("test", [&] {
    const Blob block = make_blob("some block");
    {
      const auto cache = open();
      EXPECT_EQ(cache->get(kKey, 10), nullptr);
      cache->put(kKey, block, *block);
      until(loop, [&] { return cache->figures().blocks.blocks == 1; });
      EXPECT_EQ(*cache->get(kKey, 10), "some block");
      EXPECT_EQ(*cache->get(kKey, 0), "some block");
      EXPECT_EQ(cache->figures().hits, 2u);
      EXPECT_EQ(cache->figures().misses, 1u);
    }
    const auto cache = open();
    until(loop, [&] { return cache->figures().blocks.blocks == 1; });
    EXPECT_EQ(*cache->get(kKey, 10), "some block");
    cache->refuse(kKey);
    EXPECT_EQ(cache->get(kKey, 10), nullptr);
    EXPECT_EQ(cache->figures().refused, 1u);
  });
}

TEST_F(DiskCacheTest, OffersBeyondTheQueueAreDropped) {
  loop.run_fiber("test", [&] {
    const auto cache = open();
    const Blob large = make_blob(std::string(DiskCache::kQueuedBytesMax + 1, 'x'));
    cache->put(kKey, large, *large);
    EXPECT_EQ(cache->figures().dropped_writes, 1u);
  });
}

TEST_F(DiskCacheTest, AnErrorTurnsItOffWithOneLine) {
  loop.run_fiber("test", [&] {
    const auto cache = open();
    std::filesystem::remove_all(directory.path());
    const Blob block = make_blob("some block");
    cache->put(kKey, block, *block);
    until(loop, [&] { return trace.off == 1; });
    cache->put({kKey.table, 1}, block, *block);
    EXPECT_EQ(cache->get(kKey, 10), nullptr);
    loop.sleep(std::chrono::milliseconds(20));
    EXPECT_EQ(trace.off, 1);
    EXPECT_EQ(cache->figures().errors, 1u);
  });
}

TEST(DiskCachePlace, IsADirectoryAndASizeWithUnits) {
  const auto place = DiskCachePlace::parse("/var/cache/a:b:4GiB");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->directory, "/var/cache/a:b");
  EXPECT_EQ(place->bytes, 4096 * kMiB);
  EXPECT_EQ(DiskCachePlace::parse("d:4G")->bytes, 4096 * kMiB);
  EXPECT_EQ(DiskCachePlace::parse("d:100M")->bytes, 100 * kMiB);
  for (const char* wrong : {"", "d", "/d:", ":4G", "/d:x", "/d:4GB", "/d:15MiB", "/d:-4G"}) {
    const auto refused = DiskCachePlace::parse(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find("DIR:SIZE"), std::string::npos);
  }
}

}  // namespace
}  // namespace morula
