#include "prod/disk_cache/disk_blocks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "core/base/codec.hpp"
#include "tests/prod/directory_fixture.hpp"

namespace morula {
namespace {

constexpr uint64_t kBytes = 16 * kMiB;
constexpr uint64_t kSegment = 512 * kKiB;

TierKey key_of(uint64_t n) {
  return {{{9, n % 4}, n % 3}, n * 4096};
}

std::string block_of(uint64_t n, size_t bytes = 3000) {
  std::string block;
  while (block.size() < bytes) block += std::to_string(n) + " ";
  return block;
}

class DiskBlocksTest : public ::testing::Test {
 protected:
  DiskBlocksTest() { ::chmod(place().c_str(), 0700); }
  std::string place() const { return directory.path().string(); }
  std::unique_ptr<DiskBlocks> open(uint64_t bytes = kBytes) const {
    auto opened = DiskBlocks::open(place(), bytes);
    EXPECT_TRUE(opened) << opened.error().message;
    (*opened)->recover();
    return *std::move(opened);
  }
  std::string refusal(uint64_t bytes = kBytes) const {
    auto opened = DiskBlocks::open(place(), bytes);
    return opened ? "" : opened.error().message;
  }
  static void write(DiskBlocks& blocks, uint64_t n, size_t bytes = 3000) {
    const Blob blob = make_blob(block_of(n, bytes));
    const DiskBlocks::Offered offered[] = {{key_of(n), blob, *blob}};
    blocks.write(offered);
  }
  static Blob read(DiskBlocks& blocks, uint64_t n, uint64_t length = 0) {
    const auto located = blocks.locate(key_of(n));
    return located ? blocks.read(*located, key_of(n), length) : nullptr;
  }
  /// How many of the first `count` are there; those are right.
  static uint64_t count_whole(DiskBlocks& blocks, uint64_t count, size_t bytes = 3000) {
    uint64_t whole = 0;
    for (uint64_t n = 0; n < count; ++n) {
      const Blob block = read(blocks, n);
      if (!block) continue;
      EXPECT_EQ(*block, block_of(n, bytes)) << n;
      ++whole;
    }
    return whole;
  }
  std::vector<std::string> segments() const {
    auto names = directory.files();
    std::erase(names, "lock");
    return names;
  }
  /// As `kill -9` would leave it: no footer at the end.
  void cut(const std::string& name, uint64_t bytes) const {
    std::filesystem::resize_file(directory.path() / name,
                                 std::filesystem::file_size(directory.path() / name) - bytes);
  }

  TemporaryDirectory directory;
};

TEST_F(DiskBlocksTest, GivesWhatWasWrittenAndSurvivesARestart) {
  {
    const auto blocks = open();
    for (uint64_t n = 0; n < 1000; ++n) write(*blocks, n);
    EXPECT_EQ(count_whole(*blocks, 1000), 1000u);
    EXPECT_EQ(*read(*blocks, 5, block_of(5).size()), block_of(5));
  }
  const auto blocks = open();
  EXPECT_EQ(blocks->figures().blocks, 1000u);
  EXPECT_EQ(count_whole(*blocks, 1000), 1000u);
  EXPECT_EQ(read(*blocks, 1001), nullptr);
}

TEST_F(DiskBlocksTest, ABlockOfAnotherLengthIsNoneAndForgotten) {
  const auto blocks = open();
  write(*blocks, 1);
  EXPECT_EQ(read(*blocks, 1, 17), nullptr);
  EXPECT_EQ(blocks->figures().damaged, 1u);
  EXPECT_FALSE(blocks->contains(key_of(1)));
  write(*blocks, 1);
  EXPECT_EQ(*read(*blocks, 1), block_of(1));
}

TEST_F(DiskBlocksTest, TheSegmentOfAKilledProcessIsReadRecordByRecord) {
  {
    const auto blocks = open();
    for (uint64_t n = 0; n < 100; ++n) write(*blocks, n);
  }
  ASSERT_EQ(segments().size(), 1u);
  cut(segments()[0], 20);  // the footer is torn
  EXPECT_EQ(count_whole(*open(), 100), 100u);
  cut(segments()[0], 100 * 40 + 12 + 200);  // and the last record
  EXPECT_EQ(count_whole(*open(), 100), 99u);
}

TEST_F(DiskBlocksTest, NoFlippedByteGetsThrough) {
  {
    const auto blocks = open();
    for (uint64_t n = 0; n < 6; ++n) write(*blocks, n, 200);
  }
  const std::string name = segments()[0];
  const std::string whole = directory.read_file(name);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    directory.write_file(name, damaged);
    const auto blocks = open();
    // count_whole compares. One record at most is lost to it, or in a head of the file all.
    ASSERT_GE(count_whole(*blocks, 6, 200), at < kDiskUnit ? 0u : 5u) << at;
    ASSERT_FALSE(blocks->failed());
  }
}

TEST_F(DiskBlocksTest, ARecordInAWrongPlaceIsNone) {
  {
    const auto blocks = open();
    for (uint64_t n = 0; n < 20; ++n) write(*blocks, n, 200);
  }
  const std::string name = segments()[0];
  std::string bytes = directory.read_file(name);
  const uint64_t record = DiskRecordHead{{}, block_of(0, 200).size(), 0}.record_bytes();
  const std::string third = bytes.substr(kDiskUnit + 3 * record, record);
  bytes.replace(kDiskUnit + 4 * record, record, third);
  directory.write_file(name, bytes);
  const auto blocks = open();
  EXPECT_EQ(read(*blocks, 4), nullptr);
  EXPECT_EQ(count_whole(*blocks, 20, 200), 19u);
}

TEST_F(DiskBlocksTest, ASegmentUnderAnotherNameIsNone) {
  {
    const auto blocks = open();
    write(*blocks, 1);
  }
  std::filesystem::rename(directory.path() / segments()[0],
                          directory.path() / disk_segment_name(77));
  EXPECT_EQ(read(*open(), 1), nullptr);
}

TEST_F(DiskBlocksTest, StaysWithinItsBoundAndKeepsWhatIsUsed) {
  const auto blocks = open();
  constexpr uint64_t kCount = 20'000;  // some 60 MB
  for (uint64_t n = 0; n < kCount; ++n) {
    write(*blocks, n);
    ASSERT_EQ(read(*blocks, 7) != nullptr, n >= 7) << n;
    ASSERT_LE(blocks->figures().bytes, kBytes);
  }
  uint64_t on_disk = 0;
  for (const std::string& name : segments()) {
    on_disk += std::filesystem::file_size(directory.path() / name);
  }
  EXPECT_LE(on_disk, kBytes);
  EXPECT_EQ(on_disk, blocks->figures().bytes);
  EXPECT_GT(on_disk, kBytes - 2 * kSegment);
  EXPECT_GT(count_whole(*blocks, kCount), 4000u);
  EXPECT_FALSE(blocks->contains(key_of(8)));
  const DiskBlocks::Figures figures = blocks->figures();
  EXPECT_GT(figures.rewritten_bytes, 0u);
  EXPECT_LE(figures.rewritten_bytes, figures.written_bytes / 100);
}

TEST_F(DiskBlocksTest, WritesNothingMoreThanTwiceHoweverItIsUsed) {
  const auto blocks = open();
  for (uint64_t n = 0; n < 15'000; ++n) {
    write(*blocks, n);
    for (uint64_t back = 0; back < 3; ++back) read(*blocks, n - std::min(n, back * 1500));
  }
  const DiskBlocks::Figures figures = blocks->figures();
  EXPECT_LE(figures.rewritten_bytes, figures.written_bytes);
}

TEST_F(DiskBlocksTest, WhatWasDroppedMakesRoomAndNothingElseIsLostWhileThereIsSome) {
  const auto blocks = open();
  // A third of the room is live and never used; tables around it come and go, four times the room.
  constexpr uint64_t kLive = 1700;
  const Blob blob = make_blob(block_of(1, 3000));
  const auto write_one = [&](TierTable table, uint64_t n) {
    const DiskBlocks::Offered offered[] = {{{table, n}, blob, *blob}};
    blocks->write(offered);
  };
  uint64_t live = 0;
  for (uint64_t number = 0; number < 200; ++number) {
    const TierTable brief{{1, 1}, number};
    for (uint64_t n = 0; n < 100; ++n) {
      write_one(brief, n);
      if (n % 11 == 0 && live < kLive) write_one({{2, 2}, 0}, live++);
    }
    if (number >= 10) blocks->drop({{1, 1}, number - 10});
  }
  ASSERT_EQ(live, kLive);
  for (uint64_t n = 0; n < live; ++n) ASSERT_TRUE(blocks->contains({{{2, 2}, 0}, n})) << n;
  const DiskBlocks::Figures figures = blocks->figures();
  EXPECT_GT(figures.evicted_segments, 50u);
  EXPECT_LE(figures.rewritten_bytes, figures.written_bytes / 2);
}

TEST_F(DiskBlocksTest, WhatWasDroppedIsGoneAtOnce) {
  const auto blocks = open();
  for (uint64_t n = 0; n < 1500; ++n) write(*blocks, n);
  const uint64_t before = blocks->figures().blocks;
  for (uint64_t number = 0; number < 3; ++number) {
    for (uint64_t low = 0; low < 4; ++low) blocks->drop({{9, low}, number});
  }
  EXPECT_EQ(before, 1500u);
  EXPECT_EQ(blocks->figures().blocks, 0u);
  EXPECT_EQ(read(*blocks, 3), nullptr);
}

TEST_F(DiskBlocksTest, LessRoomThanBeforeKeepsTheNewest) {
  {
    const auto blocks = open(64 * kMiB);
    for (uint64_t n = 0; n < 10'000; ++n) write(*blocks, n);
  }
  const auto blocks = open();
  EXPECT_LE(blocks->figures().bytes, kBytes);
  EXPECT_TRUE(read(*blocks, 9999));
  EXPECT_FALSE(read(*blocks, 0));
}

TEST_F(DiskBlocksTest, AnotherFormatIsThrownAway) {
  {
    const auto blocks = open();
    write(*blocks, 1);
  }
  directory.write_file("lock", "morula disk cache 99\n");
  EXPECT_EQ(read(*open(), 1), nullptr);
  EXPECT_TRUE(segments().empty());
}

TEST_F(DiskBlocksTest, ADirectoryOfSomethingElseIsRefused) {
  directory.write_file("notes.txt", "mine");
  EXPECT_NE(refusal().find("notes.txt"), std::string::npos) << refusal();
  std::filesystem::remove(directory.path() / "notes.txt");
  directory.write_file("lock", "12345");
  EXPECT_NE(refusal().find("no disk cache's"), std::string::npos) << refusal();
  EXPECT_EQ(directory.read_file("lock"), "12345");
}

TEST_F(DiskBlocksTest, ADirectoryThatOthersMayWriteToIsRefused) {
  ::chmod(place().c_str(), 0777);
  EXPECT_NE(refusal().find("chmod 700"), std::string::npos) << refusal();
}

TEST_F(DiskBlocksTest, ASecondProcessIsRefused) {
  const auto blocks = open();
  EXPECT_NE(refusal().find("another process"), std::string::npos) << refusal();
}

TEST_F(DiskBlocksTest, ADirectoryThatIsDeletedMeanwhileTurnsItOffAtMost) {
  const auto blocks = open();
  write(*blocks, 1);
  std::filesystem::remove_all(directory.path());
  EXPECT_EQ(*read(*blocks, 1), block_of(1));  // the file lives on without a name
  for (uint64_t n = 2; n < 500; ++n) write(*blocks, n);
  ASSERT_TRUE(blocks->failed());
  EXPECT_NE(blocks->failure()->message.find(place()), std::string::npos);
  EXPECT_EQ(read(*blocks, 1), nullptr);
}

/// Files of this process can't become larger, as on a disk that is full.
class FullAt {
 public:
  explicit FullAt(rlim_t bytes) : signal_before_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullAt() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_before_);
  }
  FullAt(const FullAt&) = delete;
  FullAt& operator=(const FullAt&) = delete;

 private:
  void (*signal_before_)(int);
  rlimit before_{};
};

TEST_F(DiskBlocksTest, AFullDiskTurnsItOff) {
  {
    const FullAt full(450 * kKiB);  // of a segment of 512 KiB
    const auto blocks = open();
    for (uint64_t n = 0; n < 1000; ++n) write(*blocks, n);
    EXPECT_TRUE(blocks->failed());
    EXPECT_EQ(blocks->failure()->code, ErrorCode::kFull);
    write(*blocks, 2000);
    EXPECT_EQ(read(*blocks, 1), nullptr);
  }
  EXPECT_GT(count_whole(*open(), 1000), 100u);
}

TEST_F(DiskBlocksTest, TooLittleRoomIsRefused) {
  EXPECT_NE(refusal(kMiB).find("at least 16MiB"), std::string::npos) << refusal(kMiB);
}

}  // namespace
}  // namespace morula
