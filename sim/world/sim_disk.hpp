// A block cache's second tier on a simulated local disk: survives its process, and treats what it
// was given badly: loses, damages, tears and mixes up blocks, is slow, full, or breaks for good.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/lsm/second_tier.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"

namespace morula::sim {

struct SimDiskManners {
  bool present = false;
  uint64_t bytes_max = 0;
  uint64_t drop_permille = 0;    // of offers
  uint64_t damage_permille = 0;  // of reads; and of all blocks, at a restart
  uint64_t lose_permille = 0;    // of blocks, at a restart
  uint64_t slow_permille = 0;    // of reads: given up after a while
  uint64_t break_permille = 0;   // of reads: an error after which nothing works until a restart
};

/// The disk. Lives as long as the world.
class SimDisk {
 public:
  /// `wrong` is called when bytes were refused that the disk had not damaged.
  SimDisk(const SimDiskManners& manners, const Random& random,
          std::function<void(const std::string& what)> wrong)
      : manners_(manners), random_(random), wrong_(std::move(wrong)) {}

  /// The next process begins to use it.
  void restart();

 private:
  friend class SimSecondTier;
  Blob damaged(const TierKey& key, const Blob& block);
  void erase(const TierKey& key);

  SimDiskManners manners_;
  Random random_;
  std::function<void(const std::string&)> wrong_;
  std::map<TierKey, Blob> blocks_;
  std::set<TierKey> damaged_;  // it gave something else under these at least once
  uint64_t bytes_ = 0;
  bool broken_ = false;
};

/// The disk as one run of a process uses it.
class SimSecondTier final : public SecondTier {
 public:
  SimSecondTier(SimDisk& disk, Clock& clock) : disk_(disk), clock_(clock) { disk_.restart(); }

  Blob get(const TierKey& key, uint64_t length) override;
  void put(const TierKey& key, const Blob& owner, std::string_view block) override;
  void refuse(const TierKey& key) override;
  void drop(const TierTable& table) override;
  uint64_t memory_bytes() const override { return disk_.blocks_.size() * 28; }

 private:
  SimDisk& disk_;
  Clock& clock_;
};

}  // namespace morula::sim
