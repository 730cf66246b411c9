// What cat reads from a bucket is what the cell would answer.
#include "core/inspect/stored_stream.hpp"

#include <gtest/gtest.h>

#include "core/store/keys.hpp"
#include "core/stream/offset.hpp"
#include "core/topology/topology.hpp"
#include "tests/inspect/inspect_fixture.hpp"

namespace morula::inspect_test {
namespace {

using How = StoredStreamEnd::How;

struct Cat {
  Result<StoredStreamEnd> end;
  std::string bytes;
};

Cat cat(const Env& env, std::string_view path, std::optional<Offset> offset = std::nullopt) {
  Cat read{fail(ErrorCode::kInvalid, "not run"), {}};
  read.end = looking(env, [&](const Env& inspected) {
    return read_stored_stream(inspected, {}, {"default", path, offset},
                              [&](std::string_view piece) { read.bytes += piece; });
  });
  return read;
}

How how(const Cat& read) {
  EXPECT_TRUE(read.end) << read.end.error().message;
  return read.end ? read.end->how : How::kCollision;
}

/// Runs `body` beside an instance "a" that has served for a second.
void with_cell(ServedBucket& bucket, const std::function<void(const Env&, sim::Process&)>& body) {
  sim::Process& a = bucket.start("a");
  bucket.world.run([&](const Env& env) {
    env.clock.sleep(seconds(1));
    body(env, a);
  });
}

TEST(StoredStream, IsWhatAReadGivesFromTablesAndFromTheLog) {
  ServedBucket bucket;
  with_cell(bucket, [&](const Env& env, sim::Process& a) {
    ServedBucket::fill(env, "a", 100);
    for (const std::string path : {"s0", "s1", "s2"}) {
      const std::string served = ServedBucket::read_all(env, "a", path);
      EXPECT_GT(served.size(), 100'000u);
      EXPECT_EQ(cat(env, path).bytes, served) << "while the owner serves";
    }
    const std::string served = ServedBucket::read_all(env, "a", "s0");
    a.kill();
    const uint64_t puts = bucket.world.store().sent(sim::StoreCall::kPut);
    const Cat read = cat(env, "s0");
    EXPECT_EQ(bucket.world.store().sent(sim::StoreCall::kPut), puts) << "it writes nothing";
    EXPECT_EQ(how(read), How::kRead);
    EXPECT_EQ(read.bytes, served) << "after kill -9";
    EXPECT_EQ(read.end->end, (Offset{34, served.size()}));
    a.start();
    env.clock.sleep(seconds(40));
    EXPECT_EQ(cat(env, "s0").bytes, served) << "after a takeover";
    bucket.stop("a");
    env.clock.sleep(seconds(2));
    EXPECT_EQ(cat(env, "s0").bytes, served) << "after a clean stop";
  });
}

TEST(StoredStream, OfJsonIsOneArrayHoweverManyReadsItTakes) {
  ServedBucket bucket;
  with_cell(bucket, [&](const Env& env, sim::Process&) {
    ASSERT_EQ(ServedBucket::create(env, "a", "j", "application/json").status, 201);
    EXPECT_EQ(cat(env, "j").bytes, "[]");
    std::string expected;
    for (int i = 0; i < 12; ++i) {
      std::string pair = "{\"n\": ";
      pair.append(std::to_string(i)).append(", \"x\": \"").append(std::string(200'000, 'x'));
      pair.append("\"},[1, [2]]");
      const auto added = ServedBucket::append(env, "a", "j", '[' + pair + ']', "application/json");
      ASSERT_EQ(added.status, 204);
      expected.append(i == 0 ? "[" : ",").append(pair);
    }
    EXPECT_EQ(cat(env, "j").bytes, expected + "]");
    const Cat tail = cat(env, "j", cat(env, "j").end->end);
    EXPECT_EQ(tail.bytes, "[]");
  });
}

TEST(StoredStream, BeginsAtAnOffset) {
  ServedBucket bucket;
  with_cell(bucket, [&](const Env& env, sim::Process&) {
    ASSERT_EQ(ServedBucket::create(env, "a", "s").status, 201);
    for (const char* word : {"one ", "two ", "three"}) ServedBucket::append(env, "a", "s", word);
    EXPECT_EQ(cat(env, "s", Offset{1, 4}).bytes, "two three");
    EXPECT_EQ(cat(env, "s", Offset{3, 13}).bytes, "");
    EXPECT_EQ(how(cat(env, "s", Offset{1, 5})), How::kInvalidOffset);
    EXPECT_EQ(how(cat(env, "s", Offset{9, 99})), How::kInvalidOffset);
  });
}

TEST(StoredStream, SaysWhyThereIsNothingToRead) {
  ServedBucket bucket;
  with_cell(bucket, [&](const Env& env, sim::Process&) {
    EXPECT_EQ(how(cat(env, "never")), How::kNeverCreated);
    ASSERT_EQ(ServedBucket::create(env, "a", "gone").status, 201);
    ServedBucket::append(env, "a", "gone", "words");
    ASSERT_EQ(ServedBucket::ask(env, "a", "DELETE", "/v1/stream/gone").status, 204);
    EXPECT_EQ(how(cat(env, "gone")), How::kDeleted);
    ASSERT_EQ(ServedBucket::create(env, "a", "gone").status, 201);
    EXPECT_EQ(how(cat(env, "gone")), How::kRead);
    EXPECT_EQ(cat(env, "gone").bytes, "") << "the new one has none of the old one's bytes";

    HttpRequest brief{"PUT", "/v1/stream/brief", {}, {}};
    brief.headers.add("Content-Type", "text/plain");
    brief.headers.add("Stream-TTL", "2");
    ASSERT_EQ(env.network.call("http://a:4437", brief, env.clock.now() + seconds(9))->status, 201);
    EXPECT_EQ(how(cat(env, "brief")), How::kRead);
    env.clock.sleep(seconds(3));
    EXPECT_EQ(how(cat(env, "brief")), How::kExpired);
  });
}

TEST(StoredStream, IsSoughtOnlyWhereThereIsACell) {
  sim::TestWorld world;
  world.run(
      [&](const Env& env) { EXPECT_EQ(cat(env, "s").end.error().code, ErrorCode::kNotFound); });
}

TEST(StoredStream, DamageIsToldAndNothingWrongIsPrinted) {
  ServedBucket bucket;
  with_cell(bucket, [&](const Env& env, sim::Process& a) {
    ServedBucket::fill(env, "a", 100);
    // The last log objects are in no table: these bytes are no reason to flush.
    for (int i = 0; i < 16; ++i) ServedBucket::append(env, "a", "s0", "little");
    const std::string served = ServedBucket::read_all(env, "a", "s0");
    a.kill();
    const auto survey_now = survey(env);
    ASSERT_TRUE(survey_now);
    size_t told = 0;
    for (const std::string& key : bucket.world.store().keys()) {
      const std::string sound = *bucket.world.store().peek(key);
      bucket.flip_byte(key, sound.size() / 2);
      const Cat read = cat(env, "s0");
      if (!read.end) {
        ++told;
        EXPECT_EQ(read.end.error().code, ErrorCode::kCorrupt);
        EXPECT_NE(read.end.error().message.find(key), std::string::npos)
            << key << ": " << read.end.error().message;
      }
      EXPECT_TRUE(read.end ? read.bytes == served : served.starts_with(read.bytes)) << key;
      bucket.world.store().plant(key, sound);
    }
    EXPECT_GT(told, 5u);
    const auto log = bucket.keys_with("log/");
    bucket.world.store().destroy(log[log.size() - 12]);
    EXPECT_EQ(cat(env, "s0").end.error().code, ErrorCode::kCorrupt) << "a hole is no end";
  });
}

TEST(StoredStream, ShowsEverythingAcknowledgedBeforeItBeganWhileTheCellServes) {
  ServedBucket bucket;
  bucket.config.shard.held_log_objects_max = 20;
  with_cell(bucket, [&](const Env& env, sim::Process& a) {
    const sim::ProcessId looker = bucket.world.process().id();
    bucket.world.store().set_fates([=](const sim::StoreRequest& request) {
      sim::StoreFate fate;
      if (request.process == looker) fate.to_store = milliseconds(20);
      return fate;
    });
    ASSERT_EQ(ServedBucket::create(env, "a", "s").status, 201);
    std::string acknowledged;
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("client", [&] {
        for (int i = 0;; ++i) {
          const std::string word = std::to_string(i) + std::string(2000, '.') + " ";
          const int status = ServedBucket::append(env, "a", "s", word).status;
          if (status == 204) acknowledged += word;
          if (status != 204) return;  // the crash: what came of it is not known
          env.clock.sleep(milliseconds(25));
        }
      });
      for (int i = 0; i < 8; ++i) {
        env.clock.sleep(milliseconds(200));
        const size_t before = acknowledged.size();
        const Cat read = cat(env, "s");
        EXPECT_EQ(how(read), How::kRead);
        EXPECT_GE(read.bytes.size(), before);
        EXPECT_TRUE(read.bytes.starts_with(acknowledged.substr(0, before)));
      }
      a.kill();
      EXPECT_TRUE(cat(env, "s").bytes.starts_with(acknowledged));
    });
  });
}

}  // namespace
}  // namespace morula::inspect_test
