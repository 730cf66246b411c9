#include "core/store/keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula {
namespace {

const IncarnationId kIncarnation{"node-1", {1, 2}};

TEST(Keys, AreTheDocumentedLayout) {
  EXPECT_EQ(keys::member("node-1"), "members/node-1.json");
  EXPECT_EQ(keys::log_object(kIncarnation, LogSeq(17)),
            "log/node-1-0000000000000G000000000002/00000000000000000017");
  EXPECT_EQ(keys::manifest(Prefix{1, 2}, Epoch(3), Version(44), Ulid{0, 5}),
            "shards/01/3-44-00000000000000000000000005.manifest");
  EXPECT_EQ(keys::manifest(Prefix{}, Epoch(0), Version(1), Ulid{0, 5}),
            "shards/root/0-1-00000000000000000000000005.manifest");
  EXPECT_EQ(keys::table(kIncarnation, 9),
            "sst/node-1-0000000000000G000000000002/00000000000000000009.sst");
}

RC_GTEST_PROP(Keys, LogSeqIsReadBackAndSortsAsTheKey, (uint64_t a, uint64_t b)) {
  const std::string a_key = keys::log_object(kIncarnation, LogSeq(a));
  const std::string b_key = keys::log_object(kIncarnation, LogSeq(b));
  RC_ASSERT(keys::log_seq(a_key) == LogSeq(a));
  RC_ASSERT((a < b) == (a_key < b_key));
  RC_ASSERT(a_key.starts_with(keys::log_folder(kIncarnation)));
}

RC_GTEST_PROP(Keys, OneLogSeqHasOneKey, (uint64_t seq, uint8_t place, char byte)) {
  std::string key = keys::log_object(kIncarnation, LogSeq(seq));
  const size_t at = place % key.size();
  key[at] = byte;
  const auto read = keys::log_seq(key);
  const size_t folder = keys::log_folder(kIncarnation).size();
  if (read && at >= folder) RC_ASSERT(keys::log_object(kIncarnation, *read) == key);
}

TEST(Keys, OfOtherThingsAreNoLogObjects) {
  const std::string folder = keys::log_folder(kIncarnation);
  for (const std::string& wrong :
       {std::string(), std::string("log/"), folder, folder + "17", folder + "99999999999999999999",
        folder + "000000000000000000017", folder + "0000000000000000001x",
        folder + "x/00000000000000000017", std::string("log/00000000000000000017"),
        "x" + keys::log_object(kIncarnation, LogSeq(1)), keys::table(kIncarnation, 1)}) {
    EXPECT_EQ(keys::log_seq(wrong).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

TEST(Keys, MemberNameIsReadBack) {
  EXPECT_EQ(keys::member_name(keys::member("a-9")), "a-9");
  for (const char* wrong : {"", "members/", "members/.json", "members/a", "members/a/b.json",
                            "members/A.json", "x/a.json", "members/a.json.json", "members/json"}) {
    EXPECT_EQ(keys::member_name(wrong).error().code, ErrorCode::kCorrupt) << wrong;
  }
}

TEST(Keys, EveryKeyOfACellIsReadBackAndNoOther) {
  using Kind = keys::Parsed::Kind;
  const auto log = keys::parse(keys::log_object(kIncarnation, LogSeq(17)));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->kind, Kind::kLogObject);
  EXPECT_EQ(log->incarnation, kIncarnation);
  EXPECT_EQ(log->seq, LogSeq(17));
  const auto manifest = keys::parse(keys::manifest(Prefix{1, 2}, Epoch(3), Version(44), {7, 5}));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->kind, Kind::kManifest);
  EXPECT_EQ(manifest->shard, (Prefix{1, 2}));
  EXPECT_EQ(manifest->epoch, Epoch(3));
  EXPECT_EQ(manifest->base_topology, Version(44));
  const auto table = keys::parse(keys::table(kIncarnation, 9));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->kind, Kind::kTable);
  EXPECT_EQ(table->incarnation, kIncarnation);
  EXPECT_EQ(keys::parse(keys::member("a-9"))->name, "a-9");
  EXPECT_EQ(keys::parse("cell.json")->kind, Kind::kCellJson);
  EXPECT_EQ(keys::parse("topology.json")->kind, Kind::kTopologyJson);
  const std::string good = keys::manifest(Prefix{}, Epoch(3), Version(4), {7, 5});
  for (const std::string& wrong :
       {std::string(), std::string("cell.json2"), std::string("sst/"), std::string("shards/root/"),
        std::string("shards/"), "x" + good, good + "x", std::string("shards/root/3-4.manifest"),
        "shards/2/" + good.substr(12), "shards/root/03" + good.substr(13),
        keys::table(kIncarnation, 9) + "x", std::string("sst/a/00000000000000000009.sst")}) {
    EXPECT_FALSE(keys::parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace morula
