// Rows of one instance in memory: what is visible, what is durable, and everything that can come
// between an answer and its giver, under a test's control.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/check.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/shard_rows.hpp"

namespace morula {

class MemoryRows : public ShardRows {
 public:
  /// All rows of one change, at one log position.
  struct Record {
    LogSeq position;
    StreamId id;
    std::vector<Row> rows;
  };

  explicit MemoryRows(const Env& env) : env_(env) {}

  // --- What a test sets ---

  /// Every so many suspension points really suspend, for up to 3 ms; 0: none does.
  uint64_t suspend_one_in = 0;
  /// Every so many finds and scans fail with kUnavailable; 0: none does.
  uint64_t fail_one_in = 0;
  /// What the next find, scan or wait_for_room fails with, once.
  std::optional<Error> fail_next;
  bool lease = true;
  /// Of the shards that are served here; only listings name one.
  std::vector<Prefix> shards{{}};
  WallTime wall_time{1'000'000};
  std::optional<WallTime> durable_wall_time;  // nullopt: what `wall` says
  bool wall_follows_clock = false;
  Generation mark;
  /// Whether changes are durable at once.
  bool acknowledge_at_once = true;
  /// Called by each find, scan and wait_for_room before it does anything; may suspend.
  std::function<void()> on_ask;
  /// Called with each change when it is applied.
  std::function<void(const Record&)> on_apply;

  void acknowledge(LogSeq position) {
    if (acknowledged_ && *acknowledged_ >= position) return;
    acknowledged_ = position;
    changed_.wake_all();
  }
  void acknowledge_all() {
    if (next_ > LogSeq(0)) acknowledge(next_ - 1);
  }
  /// Nothing beyond what is acknowledged will ever be.
  void fence() {
    fenced_ = true;
    changed_.wake_all();
  }
  void lose_room() { room_ = false; }
  void give_room() {
    room_ = true;
    changed_.wake_all();
  }
  /// Rows as a taker would find them.
  void restore(const std::vector<Record>& records) {
    for (const Record& record : records) put(record.rows);
  }
  void erase_data() { data_.clear(); }
  /// As a compaction may leave an expired stream.
  void drop_all_but_hot() {
    erase_data();
    std::erase_if(meta_, [](const auto& entry) {
      return row_key::parse(Tree::kMeta, entry.first)->kind != RowKind::kHot;
    });
  }
  void damage(Tree tree, const std::string& value) {
    for (auto& [key, row] : tree_of(tree)) row.value = value;
  }

  // --- What a test asks ---

  const std::vector<Record>& log() const { return log_; }
  std::optional<LogSeq> acknowledged() const { return acknowledged_; }
  size_t finds = 0;
  size_t scans = 0;
  size_t confirms = 0;
  std::optional<LogSeq> last_confirmed;
  size_t rows(Tree tree) { return tree_of(tree).size(); }

  // --- ShardRows ---

  bool serves(StreamId id) const override {
    return std::ranges::any_of(shards, [&](Prefix shard) { return shard.contains(id); });
  }
  bool serves(Prefix shard) const override { return std::ranges::count(shards, shard) > 0; }
  Result<std::optional<Row>> find_hot(StreamId id) override {
    MORULA_TRY(before_read(id));
    ++finds;
    const auto found = meta_.lower_bound(row_key::stream(id));
    if (found == meta_.end() || !found->first.starts_with(row_key::stream(id))) return std::nullopt;
    MORULA_CHECK(row_key::parse(Tree::kMeta, found->first)->kind == RowKind::kHot);
    return found->second;
  }
  Result<std::optional<Row>> find(std::string_view meta_key) override {
    MORULA_TRY(before_read(row_key::stream_id(meta_key)));
    ++finds;
    const auto found = meta_.find(std::string(meta_key));
    if (found == meta_.end()) return std::nullopt;
    return found->second;
  }
  Result<> scan_data(DataScan& scan, const TakeRow& take) override {
    MORULA_TRY(before_read(scan.id));
    ++scans;
    const std::string end = row_key::data(scan.id, scan.generation, scan.to);
    for (auto at = data_.upper_bound(row_key::data(scan.id, scan.generation, scan.from));
         at != data_.end() && at->first <= end && (scan.rows == 0 || scan.bytes < scan.bytes_max);
         ++at) {
      const Row& row = at->second;
      const auto wants_more = take(row);
      MORULA_TRY(wants_more);
      scan.from = row_key::parse(Tree::kData, row.key)->end;
      ++scan.rows;
      scan.bytes += row.value.size();
      if (!*wants_more) break;
    }
    return {};
  }
  Result<> scan_index(Prefix shard, RangeScan& scan, const TakeRow& take) override {
    MORULA_TRY(before_read());
    if (!serves(shard)) return fail(ErrorCode::kMoved, "not served here");
    ++scans;
    for (auto at = index_.lower_bound(scan.from); at != index_.end() && at->first < scan.end;
         ++at) {
      const auto wants_more = take(at->second);
      MORULA_TRY(wants_more);
      scan.from = at->first + '\0';
      if (!*wants_more) break;
    }
    return {};
  }
  std::optional<LogSeq> applied(Prefix) const override {
    if (log_.empty()) return std::nullopt;
    return log_.back().position;
  }
  LogSeq apply(StreamId id, const ChangedRows& changed) override {
    MORULA_CHECK(serves(id), "a change of a stream that is not served here");
    std::vector<Row> rows;
    for (size_t i = 0; i < changed.size(); ++i)
      rows.push_back(changed[i].row.copy(changed[i].tree));
    put(rows);
    log_.push_back({next_, id, std::move(rows)});
    const LogSeq position = next_;
    next_ = next_ + 1;
    if (on_apply) on_apply(log_.back());
    if (acknowledge_at_once) acknowledge(position);
    return position;
  }
  Result<MemoryReservation> wait_for_room(StreamId id, uint64_t, Change) override {
    MORULA_TRY(before_read(id));
    while (!room_ && !fenced_) changed_.wait();
    if (fenced_) return fail(ErrorCode::kFenced, "fenced");
    return MemoryReservation();
  }
  Result<MemoryReservation> reserve_read(uint64_t bytes) override {
    return reads.try_reserve(bytes);
  }
  Result<> grow_read(MemoryReservation& read, uint64_t bytes) override {
    return bytes <= read.bytes() ? Result<>() : read.try_resize(bytes);
  }

  MemoryAccount reads{"reads", UINT64_MAX};
  Result<> confirm(std::optional<LogSeq> reflects, Wrote wrote) override {
    ++confirms;
    last_confirmed = reflects;
    maybe_suspend();
    while (reflects && !(acknowledged_ && *reflects <= *acknowledged_)) {
      if (fenced_) return fail(ErrorCode::kFenced, "fenced");
      changed_.wait();
    }
    if (wrote == Wrote::kNo && !lease) return fail(ErrorCode::kLeaseLost, "no lease");
    return {};
  }
  Generation next_generation(StreamId, std::optional<Generation> last) const override {
    return std::max(mark, last.value_or(Generation(0))) + 1;
  }
  WallTime durable_wall(StreamId) const override { return durable_wall_time.value_or(wall()); }
  WallTime wall() const override { return wall_follows_clock ? env_.clock.wall() : wall_time; }

 private:
  void put(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      auto& tree = tree_of(row.tree);
      const auto [place, fresh] = tree.emplace(row.key, row);
      if (fresh) continue;
      MORULA_CHECK(place->second.change < row.change, "a change number is raised by every change");
      place->second = row;
    }
  }
  std::map<std::string, Row>& tree_of(Tree tree) {
    return tree == Tree::kMeta ? meta_ : tree == Tree::kData ? data_ : index_;
  }
  void maybe_suspend() {
    if (suspend_one_in != 0 && env_.random.chance(1, suspend_one_in)) {
      env_.clock.sleep(std::chrono::microseconds(env_.random.below(3000)));
    }
  }
  Result<> before_read(std::optional<StreamId> id = std::nullopt) {
    maybe_suspend();
    if (on_ask) on_ask();
    if (id && !serves(*id)) return fail(ErrorCode::kMoved, "not served here");
    if (auto failing = std::exchange(fail_next, std::nullopt)) return fail(std::move(*failing));
    if (fail_one_in != 0 && env_.random.chance(1, fail_one_in)) {
      return fail(ErrorCode::kUnavailable, "the store is away");
    }
    return {};
  }

  const Env env_;
  std::map<std::string, Row> meta_;
  std::map<std::string, Row> data_;
  std::map<std::string, Row> index_;
  std::vector<Record> log_;
  LogSeq next_;
  std::optional<LogSeq> acknowledged_;
  bool fenced_ = false;
  bool room_ = true;
  WaitList changed_;
};

}  // namespace morula
