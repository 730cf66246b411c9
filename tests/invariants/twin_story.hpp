// A history of requests, objects and steps, told to the checker of invariant 18.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/cell/cell_document.hpp"
#include "core/fleet/member.hpp"
#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"
#include "invariants/twin/spec_steps.hpp"

namespace morula::invariants {

/// A cell whose only shard is `a`'s, from seq 0 of its log. Each method is something that the code
/// does rightly; a test spoils what it wants to.
class TwinStory {
 public:
  static constexpr uint64_t kWindow = 2;
  static constexpr StreamId kStream{1, 2};  // in half 0

  TwinStory() {
    CellDocument cell;
    cell.window = kWindow;
    cell.writer = a;
    steps.written(keys::kCell, encode_cell(cell), {});
    create(manifest({}, a, Prefix{}, 0), first_key, a);
    topology.shards = {{Prefix{}, Epoch(1), a, first_key, {a}}};
    publish(a);
  }

  // ---- logs ----

  void append(const IncarnationId& who, uint64_t seq, StreamId stream = kStream) {
    step(Step::kAppend, who, stream.text(), seq);
  }
  void put(const IncarnationId& who, uint64_t seq) { step(Step::kPutLog, who, {}, seq); }
  void land(const IncarnationId& who, uint64_t seq) {
    LogBatchBuilder builder(who, LogSeq(seq), ++nonce_);
    builder.add(kStream, "x");
    written(keys::log_object(who, LogSeq(seq)), builder.finish(WallTime{}));
  }
  void acknowledge(const IncarnationId& who, uint64_t position) {
    step(Step::kAcknowledge, who, {}, position);
  }
  /// Batches [from, to): each with a record, in the bucket and acknowledged.
  void log(const IncarnationId& who, uint64_t from, uint64_t to) {
    for (uint64_t seq = from; seq < to; ++seq) {
      append(who, seq);
      put(who, seq);
      land(who, seq);
      acknowledge(who, seq + 1);
    }
  }
  void put_fence(const IncarnationId& victim, uint64_t seq, const IncarnationId& by) {
    const std::string key = keys::log_object(victim, LogSeq(seq));
    const std::string body = encode_fence(victim, LogSeq(seq), by, ++nonce_);
    steps.sent(key, body, true, {});
    written(key, body);
  }
  void fence(const IncarnationId& by, const IncarnationId& victim, uint64_t seq) {
    step(Step::kFence, by, victim.text(), seq);
  }
  void remove(const IncarnationId& who, uint64_t seq, Purpose purpose, twin::CollectorId by = 0) {
    steps.removed(keys::log_object(who, LogSeq(seq)), purpose, by, {});
  }
  void accept(const IncarnationId& who, uint64_t q, Prefix shard = {}) {
    step(Step::kAccept, who, shard.text(), q, topology.version.value);
  }

  // ---- manifests ----

  static Manifest manifest(const std::vector<ManifestLog>& closed, const IncarnationId& owner,
                           Prefix shard, uint64_t from) {
    Manifest made;
    made.version = Version(1);
    made.logs = closed;
    made.logs.push_back({shard, owner, LogSeq(from), std::nullopt});
    return made;
  }
  void create(Manifest content, const std::string& key, const IncarnationId& by) {
    if (key == spoilt_key) spoil(content);
    send_manifest(std::move(content), key, by);
    land_manifest(key);
  }
  /// `change`: of the manifest as it lies there, which has its next version already.
  template <class Change>
  void swap(const std::string& key, const IncarnationId& by, Change change) {
    send_swap(key, by, change);
    land_manifest(key);
  }
  template <class Change>
  void send_swap(const std::string& key, const IncarnationId& by, Change change) {
    Manifest next = manifests.at(key);
    ++next.version;
    change(next);
    send_manifest(std::move(next), key, by);
  }
  void land_manifest(const std::string& key) { written(key, encode_manifest(manifests.at(key))); }
  void seal(const std::string& key, const IncarnationId& by) {
    swap(key, by, [](Manifest& next) { next.sealed = true; });
  }
  void flush(const std::string& key, const IncarnationId& by, uint64_t from, Prefix shard = {}) {
    swap(key, by, [&](Manifest& next) {
      next.logs = {{shard, by, LogSeq(from), std::nullopt}};
      next.tables.push_back(table(by, from, shard));
    });
  }
  static ManifestTable table(const IncarnationId& by, uint64_t number, Prefix clip) {
    return {.key = keys::table(by, number), .clip = clip, .bytes = 1};
  }

  // ---- the topology ----

  /// `topology.shards` as they are by now, on the version that lies there.
  void publish(const IncarnationId& by) {
    send_topology(by);
    land_topology();
  }
  void send_topology(const IncarnationId& by) {
    sent_ = topology;
    ++sent_.version;
    sent_.writer = by;
    sent_.nonce = Ulid{++nonce_, 0};
    steps.sent(keys::kTopology, encode_topology(sent_), true, {});
  }
  void land_topology() {
    topology = sent_;
    written(std::string(keys::kTopology), encode_topology(topology));
  }
  /// The only shard is this from now on.
  void name(uint64_t epoch, const IncarnationId& owner, const std::string& key,
            std::vector<IncarnationId> logs) {
    topology.shards = {{Prefix{}, Epoch(epoch), owner, key, std::move(logs)}};
  }

  // ---- leases ----

  void member(const IncarnationId& of, const IncarnationId& writer, MemberState state) {
    Member document;
    document.version = Version(++members_);
    document.incarnation = of;
    document.state = state;
    document.lease = std::chrono::seconds(10);
    document.address = "http://a:1";
    document.process = {"boot", "ns", 1, 1};
    document.writer = writer;
    written(keys::member(of.name), encode_member(document));
  }

  // ---- whole operations ----

  /// `b` has fenced `a` at 3 and sealed the shard, and puts this for it.
  void prepare_takeover() {
    log(a, 0, 3);
    put_fence(a, 3, b);
    fence(b, a, 3);
    seal(first_key, b);
    create(manifest({{Prefix{}, a, LogSeq(0), LogSeq(3)}}, b, Prefix{}, 0), next_key, b);
    name(2, b, next_key, {a, b});
  }
  /// `a` gives the shard to `b`, which has promised seq 0.
  void prepare_handoff() {
    log(a, 0, 3);
    accept(b, 0);
    seal(first_key, a);
    create(manifest({{Prefix{}, a, LogSeq(0), LogSeq(3)}}, b, Prefix{}, 0), next_key, a);
    name(2, b, next_key, {a, b});
  }
  void prepare_split() {
    log(a, 0, 3);
    swap(first_key, a, [&](Manifest& next) { next.tables.push_back(table(a, 1, Prefix{})); });
    seal(first_key, a);
    topology.shards.clear();
    for (const bool bit : {false, true}) {
      const Prefix half = Prefix{}.child(bit);
      Manifest part = manifest({}, a, half, 0);
      part.tables = {table(a, 1, half)};
      create(std::move(part), half_key(bit), a);
      topology.shards.push_back({half, Epoch(2), a, half_key(bit), {a}});
    }
  }
  static std::string half_key(bool bit) {
    return keys::manifest(Prefix{}.child(bit), Epoch(2), Version(1), Ulid{3, 3});
  }
  void prepare_merge() {
    prepare_split();
    publish(a);
    Manifest whole;
    whole.version = Version(1);
    whole.tables = {table(a, 1, Prefix{})};
    for (const bool bit : {false, true}) {
      seal(half_key(bit), a);
      whole.logs.push_back({Prefix{}.child(bit), a, LogSeq(0), std::nullopt});
    }
    create(std::move(whole), next_key, a);
    name(3, a, next_key, {a});
  }

  void step(Step what, const IncarnationId& who, std::string_view subject = {},
            uint64_t position = 0, uint64_t other = 0) {
    const std::string actor = who.text();
    steps.step({what, actor, subject, position, other}, {});
  }
  /// The first violation; empty: none.
  std::string told() const { return violations.empty() ? "" : violations.kept()[0].message; }

  const IncarnationId a{"a", Ulid{1, 1}};
  const IncarnationId b{"b", Ulid{1, 1}};
  const std::string first_key = keys::manifest({}, Epoch(1), Version(0), Ulid{1, 1});
  const std::string next_key = keys::manifest({}, Epoch(2), Version(1), Ulid{2, 2});
  Topology topology;  // that lies there, until a test changes it
  std::map<std::string, Manifest> manifests;
  std::string spoilt_key;  // what is created under it is spoilt first
  std::function<void(Manifest&)> spoil;
  Violations violations;
  DecodedDocuments documents;
  twin::SpecSteps steps{documents, violations};

 private:
  void written(const std::string& key, const std::string& body) { steps.written(key, body, {}); }
  void send_manifest(Manifest content, const std::string& key, const IncarnationId& by) {
    content.writer = by;
    content.nonce = Ulid{++nonce_, 0};
    manifests[key] = std::move(content);
    steps.sent(key, encode_manifest(manifests[key]), true, {});
  }

  uint64_t nonce_ = 0;
  uint64_t members_ = 0;
  Topology sent_;
};

using Part = std::function<void(TwinStory&)>;

inline std::string told_of(const Part& what) {
  TwinStory story;
  what(story);
  return story.told();
}

/// What happens breaks nothing until the end of `before`, and then this action is wrong.
inline void expect_told(const Part& before, const Part& wrong, std::string_view words) {
  TwinStory story;
  before(story);
  ASSERT_EQ(story.told(), "");
  wrong(story);
  EXPECT_NE(story.told().find(words), std::string::npos)
      << "\"" << words << "\" is not in: " << story.told();
}

inline void nothing(TwinStory&) {}

}  // namespace morula::invariants
