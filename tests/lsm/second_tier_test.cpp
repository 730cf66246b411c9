#include "core/lsm/second_tier.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/lsm/table.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/rt/fiber.hpp"
#include "core/store/keys.hpp"
#include "sim/world/sim_disk.hpp"
#include "sim/world/test_world.hpp"
#include "tests/lsm/property_world.hpp"
#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

using sim::SimDisk;
using sim::SimDiskManners;
using sim::SimSecondTier;
using sim::TestWorld;

const IncarnationId kWriter{"a", {1, 2}};

/// A table in a store, and a disk.
struct Planted {
  explicit Planted(SimDiskManners manners = {}, bool ranges = true)
      : disk(patient(manners), Random(7), [this](const std::string& what) { wrong = what; }) {
    sim::StoreManners store;
    store.abilities.ranges = ranges;
    world.store().set_manners(store);
    TableBuilder builder(Tree::kData, {2000, 8000});
    for (uint64_t n = 0; n < 400; ++n) {
      const Row row = row_of(Tree::kData, row_key::data({n, n}, Generation(1), {n, n}), n, 100);
      builder.add({row.key, row.change, row.deleted, row.value});
      model.push_back(row);
    }
    object = make_blob(builder.finish());
    world.store().plant(key, *object);
  }
  static SimDiskManners patient(SimDiskManners manners) {
    manners.present = true;
    if (manners.bytes_max == 0) manners.bytes_max = kMiB;
    return manners;
  }
  /// Reads all streams in a cache of its own; returns the number of requests.
  uint64_t read_all(const Env& env, bool offer = false) {
    const uint64_t before = world.store().sent(sim::StoreCall::kGet);
    SimSecondTier tier(disk, env.clock);
    BlockCache cache(64 * kKiB, &tier);
    const auto table = Table::open(env, cache, key, object->size(), Tree::kData, {});
    EXPECT_TRUE(table);
    if (offer) (*table)->offer_all(object);
    for (const Row& row : model) {
      const auto found = (*table)->find(row.key);
      EXPECT_TRUE(found && *found && **found == row);
    }
    return world.store().sent(sim::StoreCall::kGet) - before;
  }

  TestWorld world;
  std::string key = keys::table(kWriter, 5);
  std::vector<Row> model;
  Blob object;
  std::string wrong;
  SimDisk disk;
};

TEST(SecondTier, WhatWasReadOnceCostsNoRequestAgain) {
  for (const bool ranges : {true, false}) {
    Planted planted({}, ranges);
    planted.world.run([&](const Env& env) {
      EXPECT_GT(planted.read_all(env), 0u);
      EXPECT_EQ(planted.read_all(env), 0u) << ranges;
    });
    EXPECT_EQ(planted.wrong, "");
  }
}

TEST(SecondTier, ATableThatWasOfferedWholeCostsItsOpeningOnly) {
  Planted planted;
  planted.world.run([&](const Env& env) { EXPECT_LE(planted.read_all(env, true), 2u); });
}

TEST(SecondTier, ATableThatLeftIsReadInTheStore) {
  Planted planted;
  planted.world.run([&](const Env& env) {
    planted.read_all(env);
    {
      SimSecondTier tier(planted.disk, env.clock);
      BlockCache cache(0, &tier);
      (*Table::open(env, cache, planted.key, planted.object->size(), Tree::kData, {}))
          ->leave_tier();
    }
    EXPECT_GT(planted.read_all(env), 0u);
  });
}

TEST(SecondTier, WhateverTheDiskDoesTheRowsAreRight) {
  SimDiskManners bad;
  bad.damage_permille = 300;
  bad.drop_permille = 100;
  bad.lose_permille = 100;
  bad.slow_permille = 50;
  bad.break_permille = 2;
  bad.bytes_max = 40'000;
  for (const bool ranges : {true, false}) {
    Planted planted(bad, ranges);
    planted.world.run([&](const Env& env) {
      for (int round = 0; round < 10; ++round) planted.read_all(env, round % 3 == 0);
    });
    EXPECT_EQ(planted.wrong, "");
  }
}

TEST(SecondTier, ATailOfAnotherTableOfThatSizeIsRefused) {
  Planted planted;
  const Blob other = planted.object;
  planted.world.run([&](const Env& env) {
    planted.read_all(env);
    SimSecondTier tier(planted.disk, env.clock);
    const TierTable first{kWriter.ulid, 5};
    const TierTable second{kWriter.ulid, 6};
    const Blob tail = tier.get({first, TierKey::kTail}, 0);
    ASSERT_TRUE(tail);
    TableBuilder builder(Tree::kData, {2000, 8000});
    for (Row& row : planted.model) {
      row.value.back() = static_cast<char>(row.value.back() ^ 1);
      builder.add({row.key, row.change, row.deleted, row.value});
    }
    planted.object = make_blob(builder.finish());
    ASSERT_EQ(planted.object->size(), other->size());
    planted.key = keys::table(kWriter, 6);
    planted.world.store().plant(planted.key, *planted.object);
    tier.put({second, TierKey::kTail}, tail, *tail);
    planted.read_all(env);
  });
  EXPECT_NE(planted.wrong, "");
}

TEST(SecondTier, TablesOfEqualNumberAndOtherWritersAreTwo) {
  Planted planted;
  planted.world.run([&](const Env& env) {
    planted.read_all(env);
    planted.key = keys::table({"a", {1, 3}}, 5);
    planted.world.store().plant(planted.key, *planted.object);
    EXPECT_GT(planted.read_all(env), 0u);
  });
}

}  // namespace
}  // namespace morula
