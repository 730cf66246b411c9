#include "sim/world/sim_disk.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace morula::sim {

namespace {

constexpr Duration kPatience = std::chrono::milliseconds(200);
constexpr uint64_t kReadUs[] = {5, 20, 100, 100, 300, 1000, 8000};

}  // namespace

void SimDisk::restart() {
  broken_ = false;
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto block = at++;
    if (random_.below(1000) < manners_.damage_permille) {
      block->second = damaged(block->first, block->second);
    } else if (random_.below(1000) < manners_.lose_permille) {
      erase(TierKey(block->first));
    }
  }
}

void SimDisk::erase(const TierKey& key) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end()) return;
  bytes_ -= found->second->size();
  blocks_.erase(found);
}

/// As long as before: a length that is wrong is too easy to find.
Blob SimDisk::damaged(const TierKey& key, const Blob& block) {
  damaged_.insert(key);
  std::string bytes = *block;
  switch (random_.below(3)) {
    case 0:  // another block, in part
      if (const auto next = blocks_.upper_bound(key); next != blocks_.end()) {
        bytes.replace(0, std::min(bytes.size(), next->second->size()), *next->second, 0,
                      std::min(bytes.size(), next->second->size()));
        break;
      }
      [[fallthrough]];
    case 1:  // the end was never written
      bytes.replace(bytes.size() / 2, std::string::npos, bytes.size() - bytes.size() / 2, '\0');
      break;
    default:
      if (!bytes.empty()) {
        char& hit = bytes[random_.below(bytes.size())];
        hit = static_cast<char>(hit ^ (1 << random_.below(8)));
      }
  }
  return make_blob(std::move(bytes));
}

Blob SimSecondTier::get(const TierKey& key, uint64_t /*length*/) {
  const auto found = disk_.blocks_.find(key);
  if (found == disk_.blocks_.end() || disk_.broken_) return nullptr;
  Random& random = disk_.random_;
  const SimDiskManners& manners = disk_.manners_;
  Blob block = found->second;
  if (random.below(1000) < manners.break_permille) disk_.broken_ = true;
  if (random.below(1000) < manners.damage_permille) block = disk_.damaged(key, block);
  const bool slow = random.below(1000) < manners.slow_permille;
  clock_.sleep(
      slow ? kPatience
           : Duration(std::chrono::microseconds(kReadUs[random.below(std::size(kReadUs))])));
  return slow || disk_.broken_ ? nullptr : block;
}

void SimSecondTier::put(const TierKey& key, const Blob& /*owner*/, std::string_view block) {
  if (disk_.broken_ || disk_.blocks_.contains(key)) return;
  if (disk_.random_.below(1000) < disk_.manners_.drop_permille) return;
  while (!disk_.blocks_.empty() && disk_.bytes_ + block.size() > disk_.manners_.bytes_max) {
    auto victim = disk_.blocks_.begin();
    std::advance(victim, static_cast<ptrdiff_t>(disk_.random_.below(disk_.blocks_.size())));
    disk_.erase(TierKey(victim->first));
  }
  disk_.bytes_ += block.size();
  disk_.blocks_.emplace(key, make_blob(std::string(block)));
}

void SimSecondTier::refuse(const TierKey& key) {
  if (!disk_.damaged_.contains(key)) {
    disk_.wrong_("a block of table " + key.table.incarnation.text() + "/" +
                 std::to_string(key.table.number) + " at " + std::to_string(key.offset) +
                 " is not what was put under its name, and the disk has not damaged it");
  }
  disk_.erase(key);
}

void SimSecondTier::drop(const TierTable& table) {
  auto at = disk_.blocks_.lower_bound({table, 0});
  while (at != disk_.blocks_.end() && at->first.table == table) {
    const auto block = at++;
    disk_.erase(TierKey(block->first));
  }
}

}  // namespace morula::sim
