#include "core/cell/handoff_messages.hpp"

#include <gtest/gtest.h>

#include "core/base/json.hpp"
#include "tests/topology/topology_of.hpp"

namespace morula {
namespace {

const IncarnationId kGiver{"a", Ulid{1, 2}};
const IncarnationId kReceiver{"b", Ulid{3, 4}};

Manifest manifest() {
  Manifest manifest;
  manifest.version = Version(4);
  manifest.writer = kGiver;
  manifest.logs = {{{}, kGiver, LogSeq(3), std::nullopt}};
  return manifest;
}

std::string without(const std::string& text, const std::string& member) {
  auto json = Json::parse(text).value();
  json.as_object()->erase(member);
  return json.compact();
}

/// Every member of the message is needed, and the one that is missing is named.
template <class Decode>
void expect_all_needed(const std::string& text, Decode decode) {
  ASSERT_TRUE(decode(text));
  const Json json = Json::parse(text).value();
  for (const auto& [member, value] : *json.as_object()) {
    const auto read = decode(without(text, member));
    ASSERT_FALSE(read) << member;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_NE(read.error().message.find(member), std::string::npos) << read.error().message;
  }
  for (const char* other : {"", "[]", "{", "null"}) EXPECT_FALSE(decode(other)) << other;
}

TEST(HandoffMessages, APreparationIsReadAsItWasWritten) {
  const PrepareMessage message{kReceiver,  kGiver,     Prefix{1, 1}, Epoch(5),
                               "shards/x", manifest(), LogSeq(9)};
  const auto read = decode_prepare(encode(message));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->to, message.to);
  EXPECT_EQ(read->from, message.from);
  EXPECT_EQ(read->shard, message.shard);
  EXPECT_EQ(read->epoch, message.epoch);
  EXPECT_EQ(read->manifest_key, message.manifest_key);
  EXPECT_EQ(read->manifest, message.manifest);
  EXPECT_EQ(read->acknowledged, message.acknowledged);
  expect_all_needed(encode(message), decode_prepare);
}

TEST(HandoffMessages, AnAskAndItsAnswerAreReadAsTheyWereWritten) {
  const AcceptMessage message{kReceiver, Prefix{0, 2}, Ulid{7, 8}, Version(11)};
  const auto read = decode_accept(encode(message));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->to, message.to);
  EXPECT_EQ(read->shard, message.shard);
  EXPECT_EQ(read->attempt, message.attempt);
  EXPECT_EQ(read->topology, message.topology);
  expect_all_needed(encode(message), decode_accept);
  EXPECT_EQ(decode_accepted(encode_accepted(LogSeq(42))).value(), LogSeq(42));
  expect_all_needed(encode_accepted(LogSeq(42)), decode_accepted);
}

TEST(HandoffMessages, WhatIsNamedIsReadAsItWasWritten) {
  Topology topology = topology_of({{"0", "a"}, {"1", "b"}});
  topology.writer = kGiver;
  const NamedMessage message{kReceiver, topology, "shards/x", {manifest(), "\"etag\""}};
  const auto read = decode_named(encode(message));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->to, message.to);
  EXPECT_EQ(encode_topology(read->topology), encode_topology(topology));
  EXPECT_EQ(read->manifest_key, message.manifest_key);
  EXPECT_EQ(read->manifest.content, message.manifest.content);
  EXPECT_EQ(read->manifest.etag, message.manifest.etag);
  expect_all_needed(encode(message), decode_named);
}

}  // namespace
}  // namespace morula
