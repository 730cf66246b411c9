// What fsck finds: nothing in a sound bucket, whoever serves it meanwhile, and every damage.
#include "core/inspect/survey.hpp"

#include <gtest/gtest.h>

#include "core/lsm/manifest.hpp"
#include "core/store/keys.hpp"
#include "core/topology/topology.hpp"
#include "tests/inspect/inspect_fixture.hpp"

namespace morula::inspect_test {
namespace {

using Strings = std::vector<std::string>;

const Unneeded* find(const Survey& survey, const std::string& why) {
  for (const Unneeded& group : survey.unneeded) {
    if (group.why.find(why) != std::string::npos) return &group;
  }
  return nullptr;
}

/// A cell that was killed in its second life, with tables and a log that nobody has taken over.
class DeadCell : public testing::Test {
 protected:
  DeadCell() {
    // The second life's log keeps what it had: it is replayed by nobody.
    sim::Process& a = bucket_.start("a");
    bucket_.world.run([&](const Env& env) {
      env.clock.sleep(seconds(1));
      ServedBucket::fill(env, "a");
      a.kill();
      bucket_.config.shard = {};
      a.start();
      env.clock.sleep(seconds(40));
      ServedBucket::fill(env, "a", 45);
      env.clock.sleep(seconds(2));
      a.kill();
    });
  }

  Result<Survey> look() {
    Result<Survey> found = fail(ErrorCode::kInvalid, "not run");
    bucket_.world.run([&](const Env& env) { found = survey(env); });
    return found;
  }
  Manifest manifest() {
    const auto topology = decode_topology(*bucket_.world.store().peek("topology.json"));
    manifest_key_ = topology->shards[0].manifest;
    return decode_manifest(*bucket_.world.store().peek(manifest_key_)).value();
  }
  /// Keys of the log objects that the manifest's own entry needs, ascending.
  Strings needed_log() {
    const ManifestLog open = manifest().logs.back();
    Strings needed;
    for (const std::string& key : bucket_.keys_with(keys::log_folder(open.incarnation))) {
      if (*keys::log_seq(key) >= open.from) needed.push_back(key);
    }
    return needed;
  }

  ServedBucket bucket_;
  std::string manifest_key_;
};

TEST_F(DeadCell, IsSoundAndEverythingInItIsKnown) {
  const uint64_t puts = bucket_.world.store().sent(sim::StoreCall::kPut);
  const auto objects = bucket_.world.store().keys();
  const auto found = look();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(damages(found), Strings{});
  EXPECT_EQ(found->objects.at(ObjectKind::kDocument).objects, 3u);
  EXPECT_GE(found->objects.at(ObjectKind::kManifest).objects, 2u);
  EXPECT_GE(found->objects.at(ObjectKind::kTable).objects, 4u);
  EXPECT_GE(found->objects.at(ObjectKind::kLogObject).objects, 8u);
  EXPECT_GE(found->objects.at(ObjectKind::kFence).objects, 1u);
  EXPECT_FALSE(found->objects.contains(ObjectKind::kForeign));
  uint64_t counted = 0;
  for (const auto& [kind, amount] : found->objects) counted += amount.objects;
  EXPECT_EQ(counted, objects.size());
  // It writes nothing.
  EXPECT_EQ(bucket_.world.store().sent(sim::StoreCall::kPut), puts);
  EXPECT_EQ(bucket_.world.store().keys(), objects);
}

TEST_F(DeadCell, AFlippedByteInAnyObjectIsFound) {
  for (const std::string& key : bucket_.world.store().keys()) {
    const std::string sound = *bucket_.world.store().peek(key);
    for (const size_t at : {size_t{0}, sound.size() / 3, sound.size() - 2}) {
      bucket_.flip_byte(key, at);
      const auto keys = damaged_keys(look());
      EXPECT_EQ(keys, Strings{key}) << "byte " << at;
      bucket_.world.store().plant(key, sound);
    }
  }
}

TEST_F(DeadCell, ATruncatedObjectIsFound) {
  for (const std::string& key : bucket_.world.store().keys()) {
    const std::string sound = *bucket_.world.store().peek(key);
    for (const size_t by : {size_t{1}, sound.size() / 2, sound.size()}) {
      bucket_.truncate(key, by);
      EXPECT_EQ(damaged_keys(look()), Strings{key}) << "less " << by << " of " << sound.size();
      bucket_.world.store().plant(key, sound);
    }
  }
}

TEST_F(DeadCell, AMissingTableIsFound) {
  for (const ManifestTable& table : manifest().tables) {
    const std::string sound = *bucket_.world.store().peek(table.key);
    bucket_.world.store().destroy(table.key);
    const auto found = look();
    EXPECT_EQ(damages(found), Strings{table.key + ": it is missing"});
    EXPECT_NE(found->damages.at(0).meaning.find("shard root"), std::string::npos);
    bucket_.world.store().plant(table.key, sound);
  }
}

TEST_F(DeadCell, ATableInPlaceOfAnotherIsFound) {
  const auto tables = manifest().tables;
  bucket_.world.store().plant(tables[0].key, *bucket_.world.store().peek(tables[1].key));
  EXPECT_EQ(damaged_keys(look()), Strings{tables[0].key});
}

TEST_F(DeadCell, AMissingLogObjectIsFoundUnlessItMayNeverHaveBeen) {
  const Strings log = needed_log();
  ASSERT_GE(log.size(), 12u);
  for (size_t i = 0; i < log.size(); ++i) {
    const std::string sound = *bucket_.world.store().peek(log[i]);
    bucket_.world.store().destroy(log[i]);
    // Of the last W (8), one that never landed can't be told from one that was lost.
    const bool must_be_there = i + 8 < log.size();
    EXPECT_EQ(damages(look()), must_be_there ? Strings{log[i] + ": it is missing"} : Strings{});
    bucket_.world.store().plant(log[i], sound);
  }
}

TEST_F(DeadCell, AnIndexThatDoesNotAgreeWithTheStreamsIsFound) {
  const Manifest sound = manifest();
  for (const auto& [tree, what] : {std::pair(Tree::kIndex, "exist and are not listed"),
                                   std::pair(Tree::kMeta, "are listed and don't exist")}) {
    Manifest wrong = sound;
    std::erase_if(wrong.tables, [&](const ManifestTable& table) { return table.tree == tree; });
    ASSERT_LT(wrong.tables.size(), sound.tables.size());
    bucket_.world.store().plant(manifest_key_, encode_manifest(wrong));
    const auto found = look();
    EXPECT_EQ(damaged_keys(found), Strings{manifest_key_});
    EXPECT_NE(damages(found).at(0).find(what), std::string::npos) << damages(found).at(0);
  }
}

TEST_F(DeadCell, AMissingDocumentIsFound) {
  const Manifest now = manifest();
  for (const std::string& key : {std::string("cell.json"), std::string("topology.json"),
                                 std::string("members/a.json"), manifest_key_}) {
    const std::string sound = *bucket_.world.store().peek(key);
    bucket_.world.store().destroy(key);
    EXPECT_EQ(damaged_keys(look()), Strings{key});
    bucket_.world.store().plant(key, sound);
  }
}

TEST_F(DeadCell, ForeignKeysAreToldAndAreNoDamage) {
  const Strings foreign = {"README",    "log/x",  "members/A.json", "shards/root/1-02-x.manifest",
                           "sst/a.sst", "zzz/zzz"};
  for (const std::string& key : foreign) bucket_.world.store().plant(key, "something");
  const auto found = look();
  EXPECT_EQ(damages(found), Strings{});
  EXPECT_EQ(found->objects.at(ObjectKind::kForeign).objects, foreign.size());
  const Unneeded* group = find(*found, "not morula's");
  ASSERT_NE(group, nullptr);
  EXPECT_FALSE(group->is_waste);
}

TEST_F(DeadCell, WhatNobodyNeedsIsReportedWithAgeAndBytes) {
  const Manifest now = manifest();
  const std::string& table = now.tables[0].key;
  const IncarnationId over{"over", Ulid{1, 2}};
  const std::string body = *bucket_.world.store().peek(table);
  bucket_.world.store().plant(keys::table(over, 7), body);
  bucket_.world.store().plant("probe/x", "probe");
  bucket_.world.pass(std::chrono::hours(3));
  const auto found = look();
  EXPECT_EQ(damages(found), Strings{});
  const Unneeded* tables = find(*found, "tables that no manifest names");
  ASSERT_NE(tables, nullptr);
  EXPECT_TRUE(tables->is_waste);
  EXPECT_EQ(tables->amount.objects, 1u);
  EXPECT_EQ(tables->amount.bytes, body.size());
  EXPECT_EQ(tables->example, keys::table(over, 7));
  EXPECT_TRUE(tables->amount.oldest.has_value());
  const Unneeded* manifests = find(*found, "manifests that were replaced");
  ASSERT_NE(manifests, nullptr);
  EXPECT_TRUE(manifests->is_waste);
  EXPECT_NE(find(*found, "start-up probe"), nullptr);
  const Unneeded* logs = find(*found, "logs of instances that are over");
  ASSERT_NE(logs, nullptr);
  EXPECT_TRUE(logs->is_waste);
}

TEST(InspectionStore, RefusesEveryChange) {
  sim::TestWorld world;
  world.store().plant("k", "x");
  world.run([&](const Env& env) {
    looking(env, [&](const Env& inspected) {
      const Etag etag = inspected.store.get("k", std::nullopt, {})->etag;
      const uint64_t sent = world.store().sent();
      const Strings keys{"k"};
      for (const auto& condition :
           {Precondition::none(), Precondition::if_absent(), Precondition::if_match(etag)}) {
        const auto put = inspected.store.put("k", make_blob("y"), condition, {});
        EXPECT_EQ(put.error().code, ErrorCode::kDenied);
      }
      EXPECT_EQ(inspected.store.remove("k", {}).error().code, ErrorCode::kDenied);
      EXPECT_EQ(inspected.store.remove_many(keys, {}).error().code, ErrorCode::kDenied);
      EXPECT_EQ(world.store().sent(), sent);
      return 0;
    });
  });
}

TEST(Survey, AnEmptyPlaceHasNoCell) {
  sim::TestWorld world;
  world.store().plant("something/else", "x");
  world.run([&](const Env& env) {
    const auto found = survey(env);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  });
}

TEST(Survey, GivesUpOnAStoreThatDoesNotAnswer) {
  sim::TestWorld world;
  world.store().set_fates([](const sim::StoreRequest&) {
    sim::StoreFate fate;
    fate.refused = ErrorCode::kUnavailable;
    return fate;
  });
  world.run([&](const Env& env) {
    const Time start = env.clock.now();
    const auto found = survey(env);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("can't be read"), std::string::npos);
    EXPECT_LT(env.clock.now() - start, Duration(seconds(60)));
  });
}

TEST(Survey, ReadsAgainWhatArrivedDamaged) {
  ServedBucket bucket;
  sim::Process& a = bucket.start("a");
  bucket.world.run([&](const Env& env) {
    env.clock.sleep(seconds(1));
    ServedBucket::fill(env, "a");
    a.kill();
    bucket.world.store().set_fates([n = 0](const sim::StoreRequest& request) mutable {
      sim::StoreFate fate;
      fate.flips_bit = request.call == sim::StoreCall::kGet && ++n % 2 == 0;
      return fate;
    });
    EXPECT_EQ(damages(survey(env)), Strings{});
  });
}

// The one that matters: appends, flushes, trims and takeovers go on while the walk reads slowly.
TEST(Survey, FindsNothingWrongWhileTheCellServes) {
  ServedBucket bucket;
  bucket.config.shard.held_log_objects_max = 12;
  sim::Process& a = bucket.start("a");
  uint64_t changed = 0;
  bucket.world.run([&](const Env& env) {
    env.clock.sleep(seconds(1));
    const sim::ProcessId looker = bucket.world.process().id();
    bucket.world.store().set_fates([=](const sim::StoreRequest& request) {
      sim::StoreFate fate;
      if (request.process == looker) fate.to_store = milliseconds(100);
      return fate;
    });
    ServedBucket::fill(env, "a", 3);
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("clients", [&] {
        for (int i = 0;; ++i) {
          (void)ServedBucket::append(env, "a", "s" + std::to_string(i % 3), std::string(3000, 'x'));
          env.clock.sleep(milliseconds(60));
        }
      });
      scope.spawn("crashes", [&] {
        for (;;) {
          env.clock.sleep(seconds(5));
          a.kill();
          a.start();
        }
      });
      for (int i = 0; i < 10; ++i) {
        const auto found = survey(env);
        EXPECT_EQ(damages(found), Strings{}) << "walk " << i;
        if (found) changed += found->changed_meanwhile;
      }
    });
  });
  EXPECT_GT(changed, 0u) << "nothing was trimmed under its eyes: the test is too kind";
}

}  // namespace
}  // namespace morula::inspect_test
