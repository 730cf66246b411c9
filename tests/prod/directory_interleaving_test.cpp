// Many processes on one object, in every order that a seed can think of: each operation of the
// directory store runs in a fiber that gives way at each of the store's named places, so that a
// swapper can sleep between any two steps while others swap, retire, read and die.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "prod/posix_file.hpp"
#include "tests/prod/directory_fixture.hpp"

namespace morula {
namespace {

constexpr int kWorkers = 5;
constexpr int kOperationsEach = 12;

/// What a worker's operation did to the object, in the order in which they ended.
struct History {
  std::map<Etag, int> number_of;  // by how many swaps each version came about
  std::set<Etag> swapped_from;    // bases of swaps that were told to have succeeded
  int newest_told = 0;            // highest number of a swap or read that has ended
  std::vector<std::string> wrong;
};

class Interleaving {
 public:
  explicit Interleaving(uint64_t seed, const std::filesystem::path& path)
      : random_(seed),
        order_(random_.fork()),
        scheduler_(order_),
        domain_(scheduler_, "test"),
        scope_(domain_) {
    DirectoryFiles::Options options;
    options.redo = seed % 2 == 0 ? RedoUse::kAuto : RedoUse::kOff;
    options.at_place = [this](std::string_view) { pause(); };
    options.at_listing = [this, path](const std::string& folder,
                                      std::vector<FolderEntry>& entries) {
      change_while_listing(path / folder, entries);
    };
    files_ = open_files(path, options);
  }

  void run() {
    scope_.spawn("create", [this] {
      const auto made = files_->put("k", "0", Precondition::if_absent());
      ASSERT_TRUE(made);
      history_.number_of[*made] = 0;
    });
    scheduler_.run_ready();
    for (int i = 0; i < kWorkers; ++i) {
      scope_.spawn("worker", [this] { work(); });
    }
    scheduler_.run_ready();
    EXPECT_EQ(scope_.live(), 0u);
    const auto last = files_->get("k", std::nullopt);
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(static_cast<size_t>(std::stoi(*last->body)), history_.swapped_from.size());
  }

  const std::vector<std::string>& wrong() const { return history_.wrong; }

 private:
  // Mostly a few turns; now and then so long that others get through several operations.
  void pause() {
    if (scope_.live() == 0) return;
    const uint64_t turns = random_.chance(1, 10) ? random_.below(300) : random_.below(2);
    for (uint64_t i = 0; i < turns; ++i) yield();
  }

  // What POSIX allows readdir(3): an entry that is there all the time is seen; one that comes or
  // goes meanwhile perhaps.
  void change_while_listing(const std::filesystem::path& folder,
                            std::vector<FolderEntry>& entries) {
    if (scope_.live() == 0 || !random_.chance(1, 2)) return;
    std::set<std::string> before;
    for (const FolderEntry& entry : entries) before.insert(entry.name);
    pause();
    std::set<std::string> after;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
      after.insert(entry.path().filename().string());
    }
    std::set<std::string> all = before;
    all.insert(after.begin(), after.end());
    entries.clear();
    for (const std::string& name : all) {
      const bool all_the_time = before.contains(name) && after.contains(name);
      if (all_the_time || random_.chance(1, 2)) entries.push_back({name, DT_REG});
    }
  }

  void work() {
    std::optional<StoredObject> known;
    for (int i = 0; i < kOperationsEach; ++i) {
      if (!known || random_.chance(1, 3)) known = read();
      if (random_.chance(2, 3)) swap(known);
    }
  }

  std::optional<StoredObject> read() {
    const int newest_before = history_.newest_told;
    auto object = files_->get("k", std::nullopt);
    if (!object) {
      history_.wrong.push_back("read failed: " + object.error().message);
      return std::nullopt;
    }
    const int number = std::stoi(*object->body);
    if (number < newest_before) {
      history_.wrong.push_back("read " + *object->body + " after " + std::to_string(newest_before) +
                               " was told");
    }
    history_.newest_told = std::max(history_.newest_told, number);
    return *object;
  }

  void swap(std::optional<StoredObject>& known) {
    if (!known) return;
    const int number = std::stoi(*known->body) + 1;
    const int newest_before = history_.newest_told;
    const auto body = std::to_string(number);
    const auto swapped = files_->put("k", body, Precondition::if_match(known->etag));
    if (!swapped) {
      if (swapped.error().code != ErrorCode::kPreconditionFailed) {
        history_.wrong.push_back("swap failed: " + swapped.error().message);
      }
      known.reset();
      return;
    }
    if (number <= newest_before) {
      history_.wrong.push_back("swap to " + body + " landed after " +
                               std::to_string(newest_before) + " was told");
    }
    if (!history_.swapped_from.insert(known->etag).second) {
      history_.wrong.push_back("two swaps from one base landed: " + body);
    }
    history_.newest_told = std::max(history_.newest_told, number);
    known = StoredObject{make_blob(body), *swapped};
  }

  Random random_;
  Random order_;
  Scheduler scheduler_;
  Domain domain_;
  Scope scope_;
  std::unique_ptr<DirectoryFiles> files_;
  History history_;
};

TEST(DirectoryInterleaving, SwapsAndReadsAreLinearizableInEveryOrder) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const TemporaryDirectory directory;
    Interleaving interleaving(seed, directory.path());
    interleaving.run();
    ASSERT_TRUE(interleaving.wrong().empty())
        << "seed " << seed << ": " << interleaving.wrong().front();
  }
}

}  // namespace
}  // namespace morula
