// A bucket and the steps of incarnations, made by hand, as the invariants see them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cell/cell_document.hpp"
#include "core/fleet/member.hpp"
#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"
#include "invariants/observer.hpp"

namespace morula::invariants {

inline IncarnationId incarnation(std::string name, uint64_t run = 1) {
  return {std::move(name), Ulid{run, run}};
}

/// A cell with one shard, whose owner `a` has a log that begins at 0.
class FakeCell : public ObjectView {
 public:
  static constexpr uint64_t kWindow = 2;
  static constexpr std::string_view kStreamText = "00000000000000010000000000000002";
  static constexpr StreamId kStream{1, 2};

  FakeCell() {
    CellDocument cell;
    cell.window = kWindow;
    cell.writer = a;
    put(std::string(keys::kCell), encode_cell(cell));
    member(a, MemberState::kLive);
    member(b, MemberState::kLive);
    manifest.logs = {{Prefix{}, a, LogSeq(0), std::nullopt}};
    put_manifest();
    publish(a);
  }

  const std::string* find(std::string_view key) const override {
    auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : &found->second;
  }

  void put(const std::string& key, std::string body) {
    objects_[key] = std::move(body);
    observer.object_written(key, objects_[key]);
  }
  void remove(const std::string& key, Purpose purpose = Purpose::kTrim) {
    if (objects_.erase(key) > 0) observer.object_removed(key, purpose);
  }

  void member(const IncarnationId& who, MemberState state) {
    Member document;
    document.version = Version(++version_);
    document.incarnation = who;
    document.state = state;
    document.lease = std::chrono::seconds(10);
    document.address = "http://" + who.name + ":1";
    document.process = {"boot", "ns", 1, 1};
    document.writer = who;
    put(keys::member(who.name), encode_member(document));
  }
  /// Writes `manifest` under its key.
  void put_manifest() {
    manifest.version = Version(++version_);
    manifest.writer = a;
    put(manifest_key, encode_manifest(manifest));
  }
  /// The topology names `manifest_key`, owned by `owner`.
  void publish(const IncarnationId& owner) {
    Topology topology;
    topology.version = Version(++topologies_);
    topology.writer = owner;
    topology.shards = {
        {Prefix{}, Epoch(topologies_), owner, manifest_key, row_logs(manifest, owner)}};
    put(std::string(keys::kTopology), encode_topology(topology));
  }
  /// Seals the manifest, and goes on with an unsealed copy under another key.
  void seal_and_copy() {
    manifest.sealed = true;
    put_manifest();
    manifest.sealed = false;
    manifest_key = "shards/root/copy-" + std::to_string(++version_) + ".manifest";
    put_manifest();
  }

  void batch(const IncarnationId& who, uint64_t seq, std::string_view payload = "x") {
    LogBatchBuilder builder(who, LogSeq(seq), ++version_);
    builder.add(kStream, payload);
    put(keys::log_object(who, LogSeq(seq)), builder.finish(WallTime{}));
  }
  void fence(const IncarnationId& who, uint64_t seq, const IncarnationId& by) {
    put(keys::log_object(who, LogSeq(seq)), encode_fence(who, LogSeq(seq), by, ++version_));
  }

  void step(Step what, const IncarnationId& who, std::string_view subject = {},
            uint64_t position = 0, HandlerId handler = 0) {
    std::string actor = who.text();
    observer.step({what, actor, subject, position, 0}, handler);
  }
  void appends(const IncarnationId& who, uint64_t seq, HandlerId handler = 0) {
    step(Step::kAppend, who, kStreamText, seq, handler);
  }
  void acknowledges(const IncarnationId& who, uint64_t position) {
    step(Step::kAcknowledge, who, {}, position);
  }
  void fences(const IncarnationId& who, const IncarnationId& victim, uint64_t at) {
    step(Step::kFence, who, victim.text(), at);
  }

  Duration now{};
  const IncarnationId a = incarnation("a");
  const IncarnationId b = incarnation("b");
  Manifest manifest;
  std::string manifest_key = "shards/root/first.manifest";
  Observer observer{[this] { return now; }, *this};

 private:
  std::map<std::string, std::string, std::less<>> objects_;
  uint64_t version_ = 0;
  uint64_t topologies_ = 0;
};

}  // namespace morula::invariants
