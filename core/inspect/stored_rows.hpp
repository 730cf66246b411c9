// The rows of one stream as they lie in the bucket: tables of its shard, and what only logs hold.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/inspect/stored_cell.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/env.hpp"
#include "core/shard/shard_rows.hpp"

namespace morula {

/// Read-only: `apply` is a caller's bug.
class StoredRows final : public ShardRows {
 public:
  /// Of the stream `id`, from what `view` names. kCorrupt, naming the object; the store's errors.
  /// `env` and `cache` outlive it. Suspends.
  static Result<std::unique_ptr<StoredRows>> open(const Env& env, const RetryConfig& retry,
                                                  BlockCache& cache, const StoredCell& view,
                                                  StreamId id);

  bool serves(StreamId id) const override { return id == id_; }
  bool serves(Prefix) const override { return false; }
  Result<std::optional<Row>> find_hot(StreamId id) override { return meta_->find_hot(id); }
  Result<std::optional<Row>> find(std::string_view meta_key) override {
    return meta_->find(meta_key);
  }
  Result<> scan_data(DataScan& scan, const TakeRow& take) override {
    return data_->scan_data(scan, take);
  }
  Result<> scan_index(Prefix, RangeScan& scan, const TakeRow& take) override {
    return index_->scan_range(scan, take);
  }
  LogSeq apply(StreamId id, const ChangedRows& rows) override;
  std::optional<LogSeq> applied(Prefix) const override { return std::nullopt; }
  Result<MemoryReservation> wait_for_room(StreamId, uint64_t, Change) override {
    return MemoryReservation();
  }
  Result<MemoryReservation> reserve_read(uint64_t) override { return MemoryReservation(); }
  Result<> grow_read(MemoryReservation&, uint64_t) override { return {}; }
  Result<> confirm(std::optional<LogSeq>, Wrote) override { return {}; }
  Generation next_generation(StreamId id, std::optional<Generation> last) const override;
  WallTime wall() const override;
  WallTime durable_wall(StreamId) const override {
    return WallTime{INT64_MAX};
  }  // writes nothing down

 private:
  StoredRows(const Env& env, const RetryConfig& retry, StreamId id)
      : env_(env), retry_(retry), id_(id) {}

  Result<> open_tables(BlockCache& cache, const Manifest& manifest);
  Result<> replay(const ManifestLog& log, uint64_t window);
  Result<LogSeq> end_of_open_log(const ManifestLog& log, uint64_t window) const;
  Result<> replay_object(const ManifestLog& log, LogSeq seq);

  const Env& env_;
  const RetryConfig retry_;
  const StreamId id_;
  WallTime wall_floor_;
  std::shared_ptr<Memtable> replayed_ = std::make_shared<Memtable>();
  std::array<TreeSources, kTrees.size()> sources_;  // by Tree
  std::shared_ptr<const TreeReader> meta_;
  std::shared_ptr<const TreeReader> data_;
  std::shared_ptr<const TreeReader> index_;
};

}  // namespace morula
