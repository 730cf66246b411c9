// A loss of power at any moment of any interleaving: what was answered or seen is there after
// recovery, what was not is whole or absent. Two stores share a directory, each with fibers that
// give way at each of the store's places; one may die before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "prod/directory/directory_root.hpp"
#include "tests/prod/directory_fixture.hpp"
#include "tests/prod/power_loss_disk.hpp"

namespace morula {
namespace {

constexpr size_t kStores = 2;
constexpr int kFibersEach = 2;
constexpr int kOperationsEach = 12;
constexpr size_t kLargeBody = 300 * kKiB;  // too large for a redo log
const std::array<std::string, 4> kCreated = {"f/0", "f/1", "g/h/2", "3"};
const std::array<std::string, 2> kSwapped = {"s/0", "1"};

std::string boot(char digit) {
  return std::string(32, digit);
}

uint64_t inode_of(const Etag& etag) {
  uint64_t inode = 0;
  std::from_chars(etag.data(), etag.data() + etag.size(), inode, 16);
  return inode;
}

int number_of(const std::string& body) {
  return std::stoi(body);
}

class World {
 public:
  World(uint64_t seed, const std::filesystem::path& path)
      : random_(seed),
        order_(random_.fork()),
        scheduler_(order_),
        disk_(path),
        checkpoints_(random_.chance(1, 3)),
        places_left_(static_cast<int>(random_.below(600))) {
    for (size_t i = 0; i < kStores; ++i) {
      domains_[i] = std::make_unique<Domain>(scheduler_, "store");
      scopes_[i] = std::make_unique<Scope>(*domains_[i]);
      DirectoryFiles::Options options;
      options.boot = boot('a');
      options.redo = random_.chance(1, 8) ? RedoUse::kOff : RedoUse::kAtOnce;
      if (options.redo == RedoUse::kOff) removals_last_ = false;
      options.redo_segment_bytes = checkpoints_ ? 32 * kKiB : 512 * kKiB;
      options.at_place = [this, i](std::string_view place) { reached(i, place); };
      options.at_sync = [this](int kind, int fd) { return disk_.synced(kind, fd); };
      files_[i] = open_files(path, std::move(options));
    }
  }

  void run_until_power_is_lost() {
    running_ = true;
    for (size_t i = 0; i < kStores; ++i) {
      for (int fiber = 0; fiber < kFibersEach; ++fiber) {
        scopes_[i]->spawn("worker", [this, i] { work(*files_[i]); });
      }
    }
    while (!power_lost_ && scheduler_.run_one()) {
      for (size_t i = 0; i < kStores; ++i) {
        if (dies_[i] && !domains_[i]->killed()) domains_[i]->kill();
      }
    }
    running_ = false;
    for (const auto& domain : domains_) domain->kill();
    scheduler_.run_ready();
  }

  /// Returns when each file was changed, which nobody can set.
  std::map<uint64_t, int64_t> lose_power(const std::filesystem::path& target) {
    disk_.lose_power(random_, target);
    return disk_.restored_changed();
  }

  /// What is wrong with what `found` has of each key.
  void check(const std::map<std::string, std::string>& found) {
    for (const std::string& key : kCreated) check_created(key, found);
    for (const std::string& key : kSwapped) check_swapped(key, found);
  }

  Random& random() { return random_; }
  std::vector<std::string> wrong;

 private:
  struct Operation {
    std::string key;
    uint64_t unlinked = 0;
  };

  // --- what happens

  void reached(size_t store, std::string_view place) {
    if (!running_) return;
    Operation* const operation = operation_;
    disk_.look();
    for (const std::string& key : kCreated) {
      const uint64_t inode = disk_.inode_of(key);
      uint64_t& current = current_[key];
      if (inode == 0 && current != 0 && place == "object unlinked") operation->unlinked = current;
      if (inode != 0) had_name_[key].insert(inode);
      current = inode;
    }
    if (--places_left_ <= 0) power_lost_ = true;
    if (random_.chance(1, 300)) dies_[store] = true;
    while (power_lost_ || dies_[store]) yield();  // until it is killed
    const uint64_t turns = random_.chance(1, 10) ? random_.below(100) : random_.below(2);
    for (uint64_t i = 0; i < turns; ++i) yield();
    operation_ = operation;
  }

  void work(DirectoryFiles& files) {
    for (int i = 0; i < kOperationsEach; ++i) {
      Operation operation;
      if (random_.chance(3, 4)) {
        operation.key = kCreated[random_.below(kCreated.size())];
        operation_ = &operation;
        operate(files, operation);
      } else {
        operation.key = kSwapped[random_.below(kSwapped.size())];
        operation_ = &operation;
        swap(files, operation.key);
      }
    }
  }

  std::string new_body(const std::string& begin) {
    std::string body = begin + " " + std::to_string(++bodies_) + " ";
    body.append(random_.chance(1, 20) ? kLargeBody : random_.below(6000), 'x');
    written_.insert(body);
    return body;
  }

  void operate(DirectoryFiles& files, Operation& operation) {
    const std::string& key = operation.key;
    switch (random_.below(6)) {
      case 0:
      case 1:
      case 2: {
        const auto put = files.put(key, new_body(key), Precondition::if_absent());
        if (put) relied_.insert(inode_of(*put));
        if (!put && put.error().code != ErrorCode::kPreconditionFailed) {
          wrong.push_back("create: " + put.error().message);
        }
        break;
      }
      case 3: {
        const auto object = files.get(key, std::nullopt);
        if (object) relied_.insert(inode_of(object->etag));
        break;
      }
      case 4: {
        const std::string keys[] = {key};
        if (files.remove(keys) && operation.unlinked != 0) removed_.insert(operation.unlinked);
        break;
      }
      default: {
        const auto listing = files.list("", "", 100);
        if (!listing) {
          wrong.push_back("list: " + listing.error().message);
          break;
        }
        for (const ObjectInfo& info : listing->objects) relied_.insert(inode_of(info.etag));
      }
    }
  }

  void swap(DirectoryFiles& files, const std::string& key) {
    const auto object = files.get(key, std::nullopt);
    if (!object) {
      if (files.put(key, new_body("0"), Precondition::if_absent())) rely_on(key, 0);
      return;
    }
    const int number = number_of(*object->body);
    rely_on(key, number);
    const auto body = new_body(std::to_string(number + 1));
    if (files.put(key, body, Precondition::if_match(object->etag))) rely_on(key, number + 1);
  }

  void rely_on(const std::string& key, int number) {
    const auto [known, first] = relied_number_.emplace(key, number);
    if (!first) known->second = std::max(known->second, number);
  }

  // --- what must be left of it

  void check_created(const std::string& key, const std::map<std::string, std::string>& found) {
    const auto there = found.find(key);
    const uint64_t current = current_[key];
    if (current != 0 && relied_.contains(current)) {
      if (there == found.end() || there->second != disk_.content(current)) {
        wrong.push_back(key + " was answered or seen, and is " +
                        (there == found.end() ? "absent" : "other: " + there->second.substr(0, 9)));
      }
      return;
    }
    if (there == found.end()) return;
    bool whole = false;
    for (const uint64_t inode : had_name_[key]) {
      if (there->second != disk_.content(inode)) continue;
      whole = true;
      if (removed_.contains(inode) && removals_last_) wrong.push_back(key + " was removed");
    }
    if (!whole) wrong.push_back(key + " is torn: " + there->second.substr(0, 20));
  }

  void check_swapped(const std::string& key, const std::map<std::string, std::string>& found) {
    const auto there = found.find(key);
    const auto relied = relied_number_.find(key);
    if (there == found.end()) {
      if (relied != relied_number_.end()) wrong.push_back(key + " is lost");
    } else if (!written_.contains(there->second)) {
      wrong.push_back(key + " is torn");
    } else if (relied != relied_number_.end() && number_of(there->second) < relied->second) {
      wrong.push_back(key + " went back");
    }
  }

  Random random_;
  Random order_;
  Scheduler scheduler_;
  PowerLossDisk disk_;
  const bool checkpoints_;
  bool removals_last_ = !checkpoints_;  // see directory_settling.hpp
  int places_left_;
  std::array<std::unique_ptr<Domain>, kStores> domains_;
  std::array<std::unique_ptr<Scope>, kStores> scopes_;
  std::array<std::unique_ptr<DirectoryFiles>, kStores> files_;
  std::array<bool, kStores> dies_{};
  bool running_ = false;
  bool power_lost_ = false;
  Operation* operation_ = nullptr;  // of the fiber that runs

  int bodies_ = 0;
  std::set<std::string> written_;
  std::map<std::string, uint64_t> current_;             // inode; 0: absent
  std::map<std::string, std::set<uint64_t>> had_name_;  // inodes
  std::set<uint64_t> relied_;                           // inodes
  std::set<uint64_t> removed_;                          // inodes whose removal was answered
  std::map<std::string, int> relied_number_;            // of swapped objects
};

std::map<std::string, std::string> read_all(DirectoryFiles& files, World& world) {
  std::map<std::string, std::string> found;
  const auto listing = files.list("", "", 1000);
  if (!listing) {
    world.wrong.push_back("list after recovery: " + listing.error().message);
    return found;
  }
  for (const ObjectInfo& info : listing->objects) {
    const auto object = files.get(info.key, std::nullopt);
    if (object) {
      found[info.key] = *object->body;
    } else {
      world.wrong.push_back(info.key + " after recovery: " + object.error().message);
    }
  }
  return found;
}

struct Stop {};

std::function<int64_t(const struct stat&)> lookup(std::map<uint64_t, int64_t> changed) {
  return [changed = std::move(changed)](const struct stat& info) {
    const auto found = changed.find(info.st_ino);
    return found == changed.end() ? nanoseconds(info.st_ctim) : found->second;
  };
}

void play(uint64_t seed, std::vector<std::string>& wrong) {
  const TemporaryDirectory directory;
  World world(seed, directory.path());
  world.run_until_power_is_lost();
  const TemporaryDirectory after;
  const auto changed = world.lose_power(after.path());

  // The first recovery may die before its end, or the power fail once more.
  PowerLossDisk disk(after.path());
  DirectoryFiles::Options options;
  options.boot = boot('b');
  options.changed_at = lookup(changed);
  options.at_sync = [&](int kind, int fd) { return disk.synced(kind, fd); };
  const bool dies = world.random().chance(1, 4);
  options.at_place = [&](std::string_view place) {
    disk.look();
    if (dies && place == "recovered") throw Stop();
  };
  std::map<std::string, std::string> found;
  try {
    const auto files = open_files(after.path(), options);
    found = read_all(*files, world);
    world.check(found);
    const TemporaryDirectory again;
    disk.lose_power(world.random(), again.path());
    DirectoryFiles::Options third;
    third.boot = boot('c');
    third.changed_at = lookup(disk.restored_changed());
    const auto reopened = open_files(again.path(), third);
    if (read_all(*reopened, world) != found) world.wrong.push_back("changed by a second loss");
  } catch (const Stop&) {
    options.at_place = nullptr;
    const auto files = open_files(after.path(), options);
    world.check(read_all(*files, world));
  }
  wrong = world.wrong;
}

TEST(DirectoryPowerLoss, WhatWasAnsweredOrSeenIsThereAndNothingIsTorn) {
  const char* const first = std::getenv("MORULA_SEED");  // to look for more, or at one
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + 250; ++seed) {
    std::vector<std::string> wrong;
    play(seed, wrong);
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong.front();
  }
}

}  // namespace
}  // namespace morula
