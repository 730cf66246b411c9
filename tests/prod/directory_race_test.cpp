// Racing processes on one directory: exactly one wins each conditional put, also when racers are
// stopped or killed in the middle.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/rt/random.hpp"
#include "tests/prod/directory_fixture.hpp"
#include "tests/prod/racing_processes.hpp"

namespace morula {
namespace {

constexpr int kRacers = 16;
constexpr int kRounds = 60;

/// What racers tell each other and the test.
struct Board {
  std::atomic<int> round{-1};                             // racers wait for theirs
  std::array<std::atomic<int>, kRounds> ready{};          // racers that have read their base
  std::array<std::atomic<int>, kRounds> finished{};       // racers that have put
  std::array<std::atomic<int>, kRounds> winners{};        // how many were told that theirs landed
  std::array<std::atomic<int>, kRounds> winner{};         // who
  std::array<std::atomic<int>, kRounds> other_answers{};  // neither landed nor lost
};

void wait_for(const std::function<bool()>& what) {
  while (!what()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void record(Board& board, int round, int racer, const Result<Etag>& put) {
  if (put) {
    board.winner[round] = racer;
    ++board.winners[round];
  } else if (put.error().code != ErrorCode::kPreconditionFailed) {
    ++board.other_answers[round];
  }
  ++board.finished[round];
}

std::string round_key(int round) {
  return "round/" + std::to_string(round);
}

TEST(DirectoryRace, OneOfSixteenProcessesCreates) {
  const TemporaryDirectory directory;
  const SharedMemory<Board> board;
  std::vector<ChildProcess> racers;
  for (int racer = 0; racer < kRacers; ++racer) {
    racers.emplace_back([&, racer] {
      const auto files = open_files(directory.path());
      for (int round = 0; round < kRounds; ++round) {
        wait_for([&] { return board->round >= round; });
        record(*board, round, racer,
               files->put(round_key(round), std::to_string(racer), Precondition::if_absent()));
      }
    });
  }
  const auto files = open_files(directory.path());
  for (int round = 0; round < kRounds; ++round) {
    board->round = round;
    wait_for([&] { return board->finished[round] == kRacers; });
    EXPECT_EQ(board->winners[round], 1);
    EXPECT_EQ(board->other_answers[round], 0);
    EXPECT_EQ(*files->get(round_key(round), std::nullopt)->body,
              std::to_string(board->winner[round]));
  }
  for (ChildProcess& racer : racers) EXPECT_TRUE(racer.join());
}

TEST(DirectoryRace, OneOfSixteenProcessesSwapsEachVersion) {
  const TemporaryDirectory directory(TemporaryDirectory::Where::kDisk);
  const SharedMemory<Board> board;
  ASSERT_TRUE(open_files(directory.path())->put("k", "start", Precondition::if_absent()));
  std::vector<ChildProcess> racers;
  for (int racer = 0; racer < kRacers; ++racer) {
    racers.emplace_back([&, racer] {
      const auto files = open_files(directory.path());
      for (int round = 0; round < kRounds; ++round) {
        const Etag base = files->get("k", std::nullopt)->etag;
        ++board->ready[round];
        wait_for([&] { return board->round >= round; });
        record(*board, round, racer,
               files->put("k", std::to_string(round) + " " + std::to_string(racer),
                          Precondition::if_match(base)));
        wait_for([&] { return board->finished[round] == kRacers; });
      }
    });
  }
  const auto files = open_files(directory.path());
  for (int round = 0; round < kRounds; ++round) {
    wait_for([&] { return board->ready[round] == kRacers; });
    board->round = round;
    wait_for([&] { return board->finished[round] == kRacers; });
    EXPECT_EQ(board->winners[round], 1);
    EXPECT_EQ(board->other_answers[round], 0);
    EXPECT_EQ(*files->get("k", std::nullopt)->body,
              std::to_string(round) + " " + std::to_string(board->winner[round]));
  }
  for (ChildProcess& racer : racers) EXPECT_TRUE(racer.join());
}

constexpr int kSwapsMax = 200'000;

/// A count that processes raise by swaps.
struct Counting {
  std::array<std::atomic<uint8_t>, kSwapsMax> told{};  // how often each number was told as landed
  std::atomic<int> reads_back{0};                      // a reader saw the count go back
  std::atomic<int> reads{0};
  std::atomic<int> errors{0};
  std::atomic<bool> stop{false};
};

void count_up(const std::filesystem::path& path, Counting& counting, int counter) {
  const auto files = open_files(path);
  for (int i = 0; !counting.stop; ++i) {
    const auto object = files->get("count", std::nullopt);
    if (!object) {
      ++counting.errors;
      return;
    }
    const int next = std::stoi(*object->body) + 1;
    const std::string body =
        std::to_string(next) + " " + std::to_string(counter) + "/" + std::to_string(i);
    const auto swapped = files->put("count", body, Precondition::if_match(object->etag));
    if (swapped && next < kSwapsMax) {
      ++counting.told[next];
    } else if (!swapped && swapped.error().code != ErrorCode::kPreconditionFailed) {
      ++counting.errors;
    }
  }
}

void watch_count(const std::filesystem::path& path, Counting& counting) {
  const auto files = open_files(path);
  for (int newest = 0; !counting.stop; ++counting.reads) {
    const auto object = files->get("count", std::nullopt);
    const int seen = object ? std::stoi(*object->body) : -1;
    if (seen < newest) ++counting.reads_back;
    newest = std::max(newest, seen);
  }
}

TEST(DirectoryRace, StoppedAndKilledCountersLoseAndDoubleNothing) {
  const TemporaryDirectory directory;
  const SharedMemory<Counting> counting;
  ASSERT_TRUE(open_files(directory.path())->put("count", "0", Precondition::if_absent()));
  Random random(20261129);
  int next_counter = 0;
  int killed = 0;
  const auto start_counter = [&] {
    return ChildProcess(
        [&, counter = next_counter++] { count_up(directory.path(), *counting, counter); });
  };
  std::vector<ChildProcess> counters;
  for (int i = 0; i < kRacers; ++i) counters.push_back(start_counter());
  std::vector<ChildProcess> watchers;
  for (int i = 0; i < 2; ++i) {
    watchers.emplace_back([&] { watch_count(directory.path(), *counting); });
  }
  // Stops, wakes, kills and replaces them, at moments that nobody chose.
  for (int turn = 0; turn < 400; ++turn) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
    ChildProcess& victim = counters[random.below(counters.size())];
    switch (random.below(6)) {
      case 0:
        victim.kill();
        ++killed;
        victim.~ChildProcess();
        new (&victim) ChildProcess(start_counter());
        break;
      case 1:
      case 2:
      case 3:
        victim.send(SIGSTOP);
        break;
      default:
        victim.send(SIGCONT);
    }
  }
  counting->stop = true;
  for (ChildProcess& counter : counters) {
    counter.send(SIGCONT);
    EXPECT_TRUE(counter.join());
  }
  for (ChildProcess& watcher : watchers) EXPECT_TRUE(watcher.join());

  const auto last = open_files(directory.path())->get("count", std::nullopt);
  ASSERT_TRUE(last);
  const int total = std::stoi(*last->body);
  int untold = 0;
  for (int number = 1; number <= total; ++number) {
    EXPECT_LE(counting->told[number], 1) << number << " was told to two";
    untold += counting->told[number] == 0 ? 1 : 0;
  }
  for (int number = total + 1; number < kSwapsMax; ++number) ASSERT_EQ(counting->told[number], 0);
  EXPECT_LE(untold, killed) << "only who was killed can't tell that its swap landed";
  EXPECT_EQ(counting->errors, 0);
  EXPECT_EQ(counting->reads_back, 0);
  EXPECT_GT(total, 100);
  EXPECT_GT(counting->reads, 100);
}

}  // namespace
}  // namespace morula
