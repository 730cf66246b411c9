// The shards that an instance serves, as one view of their rows, and how they come, go and are
// exchanged without a pause for anybody.
//
//   serve -> served -> stop -> stopped -> resume -> served
//   served or stopped -> remove -> gone
//   served -> replace -> gone, and others of the same space are served
//
// A read works on the shard that it found. When that one cannot answer because it has been replaced
// meanwhile and somebody has cleared away what it needs, the one that has its place is asked.
// Changes are applied without suspension to whichever shard has the stream at that moment.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/base/memory_budget.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/env.hpp"
#include "core/shard/lease_view.hpp"
#include "core/shard/shard.hpp"
#include "core/shard/shard_rows.hpp"

namespace morula {

class ServedShards : public ShardRows {
 public:
  /// `log`, `lease` and `memory` are those of all its shards and outlive it.
  ServedShards(const Env& env, LogWriter& log, const LeaseView& lease, MemoryBudget& memory);

  // None of these suspends.

  /// Its tables are open and its log ranges replayed; nothing of its space is here, served or
  /// stopped.
  void serve(std::shared_ptr<Shard> shard);
  /// It is not served any more, and not gone. False: it is not here.
  bool stop(Prefix shard);
  /// It is served as before: nobody else has owned it meanwhile. False: it is not here.
  bool resume(Prefix shard);
  /// It is another's, or nobody's. Whoever keeps states of streams forgets those of this prefix
  /// before any of its space can be served again.
  void remove(Prefix shard);
  void remove_all();
  /// A split, or a merge: `fresh` are served instead of those of `old`, which have the same space.
  /// `fresh` have all rows of the old ones, and their `applied` is not below theirs unless that is
  /// acknowledged. False, and nothing has changed: not all of `old` are here and served.
  bool replace(const std::vector<Prefix>& old, const std::vector<std::shared_ptr<Shard>>& fresh);

  /// Those that are here, the stopped ones included, by their prefixes.
  std::vector<std::shared_ptr<Shard>> all() const;
  /// Served or stopped; nullptr: it is not here.
  std::shared_ptr<Shard> find_shard(Prefix shard) const;

  // ShardRows
  bool serves(StreamId id) const override { return slots_[slot(id)] != nullptr; }
  bool serves(Prefix shard) const override;
  Result<std::optional<Row>> find_hot(StreamId id) override;
  Result<std::optional<Row>> find(std::string_view meta_key) override;
  Result<> scan_data(DataScan& scan, const TakeRow& take) override;
  Result<> scan_index(Prefix shard, RangeScan& scan, const TakeRow& take) override;
  LogSeq apply(StreamId id, const ChangedRows& rows) override;
  std::optional<LogSeq> applied(Prefix shard) const override;
  Result<MemoryReservation> wait_for_room(StreamId id, uint64_t bytes, Change change) override;
  Result<MemoryReservation> reserve_read(uint64_t bytes) override;
  Result<> grow_read(MemoryReservation& read, uint64_t bytes) override;
  Result<> confirm(std::optional<LogSeq> reflects, Wrote wrote) override;
  Generation next_generation(StreamId id, std::optional<Generation> last) const override;
  WallTime wall() const override;
  WallTime durable_wall(StreamId id) const override;

 private:
  struct Place {
    std::shared_ptr<Shard> shard;
    bool served = true;
  };
  using Places = std::map<Prefix, Place>;

  static size_t slot(StreamId id) { return id.high >> (64 - Prefix::kMaxLength); }
  /// Sets the slots of `shard`.
  void point(Prefix shard, const std::shared_ptr<Shard>* to);
  void add(std::shared_ptr<Shard> shard);
  /// The caller knows that it is served.
  Shard& shard_of(StreamId id) const;
  /// Calls `read` with the shard of `id`, and again with its successor if it was replaced meanwhile
  /// and could not answer.
  template <class Read>
  auto ask(StreamId id, Read read) -> decltype(read(std::declval<Shard&>()));

  const Env env_;
  LogWriter& log_;
  const LeaseView& lease_;
  MemoryBudget& memory_;
  Places places_;
  /// By the first bits of an id: the shard that is served there, in `places_`; or nullptr.
  std::vector<const std::shared_ptr<Shard>*> slots_;
};

}  // namespace morula
