// Merges tables of one tree into new ones, and leaves out what nobody can see any more.
//
// Of each key the row with the highest change number stays. Left out are:
//   meta  rows of a generation below the newest one that the inputs know, and, but for its hot row,
//         of one that is deleted. The tombstone itself (a deleted hot row) goes only when no table
//         outside of the inputs can hold a row of its stream (OWNERSHIP R2). All rows of a
//         generation that has expired, hot row included, under the same condition.
//   index the same as of meta: a deletion is a tombstone here, too. For the end of a stream that
//         expires nobody writes one, so the merge that drops its meta rows does (`take_unlisted`).
//   data  rows of a generation whose hot row, in the meta tables of the same manifest version, is
//         absent, deleted, expired, or of a newer generation. (A creation and its data are flushed
//         together, so no hot row means that all of its generation has gone.)
//
// Expired is what has its deadline at or before `ExpiredBy::time`, the time at which the last flush
// was cut. Why that time, and not now: hot rows that are not flushed yet may have renewed a stream,
// and are not looked at. But they came after that cut, and nothing renews a stream whose end has
// come (core/stream/renewal.cpp): a stream whose flushed deadline is not after the cut had ended
// before the first row that isn't flushed. Why every owner agrees: the manifest that published that
// flush carries a wall floor not below its cut, and so does every later one; whoever serves the
// shard answers "gone", before these rows have gone and after. And as for a deleted one: what is
// dropped raises the generation mark (OWNERSHIP R2), so that its number is not drawn again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/lsm/expired_by.hpp"
#include "core/lsm/manifest.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/lsm/table_scan.hpp"

namespace morula {

/// The newest hot row of one stream after the other, ascending, from scans of meta tables.
class HotRows {
 public:
  struct Hot {
    Generation generation;
    ChangeNumber change;
    bool deleted = false;
    bool expired = false;
    bool over() const { return deleted || expired; }
  };
  HotRows(std::vector<TableScan> scans, const ExpiredBy& expired)
      : scans_(std::move(scans)), expired_(expired) {}

  /// Pure. False: the scans must read more, then the same again.
  bool seek(StreamId id);
  /// Of the stream that was sought; nullopt when it has none.
  const std::optional<Hot>& newest() const { return newest_; }
  std::vector<TableScan>& scans() { return scans_; }

 private:
  bool pass(TableScan& scan);

  std::vector<TableScan> scans_;
  ExpiredBy expired_;
  std::optional<StreamId> id_;
  std::optional<Hot> newest_;
};

class CompactionMerge {
 public:
  enum class Pause : uint8_t {
    kWantsMore,   // `read_more`, then go on
    kOutputFull,  // finish this output and take what is unlisted, then go on with new ones
    kDone,
  };
  struct Dropped {
    uint64_t rows = 0;
    uint64_t tombstones = 0;
    uint64_t expired = 0;  // of the rows
    Generation highest;    // of the meta rows
  };

  /// `outside`: the tables of this tree that the manifest names beside the inputs. `hot`: of a data
  /// merge, scans of all meta tables of the same manifest version; nullopt: dead data is kept, for
  /// a later merge. `expired`: its time is that of a flush whose tables are in that version. An
  /// output ends at a bound of the hash space, before a stream that has others of the first
  /// `cut_bits`; bounds should be so far from each other that it has up to `output_bytes` then.
  CompactionMerge(Tree tree, std::vector<TableScan> inputs, std::vector<ManifestTable> outside,
                  std::optional<std::vector<TableScan>> hot, const ExpiredBy& expired,
                  uint64_t output_bytes, uint8_t cut_bits = 64);

  /// Reads what the scans lack. Suspends. Returns the bytes read. Errors: those of Table.
  Result<uint64_t> read_more();
  /// Adds rows to `output` until it has to pause. Pure: for Compute.
  Pause merge(TableBuilder& output);

  const Dropped& dropped() const { return dropped_; }
  /// Tombstones of the index tree for what was dropped since the last call. What takes the place of
  /// the inputs has to hold them, from the same version of the manifest on. Null: there are none.
  std::shared_ptr<const Memtable> take_unlisted();

 private:
  /// What the inputs say of the stream that the merge stands at.
  struct Known {
    StreamId id;
    std::optional<HotRows::Hot> newest;
  };

  const TableScan* next_row() const;
  /// nullopt: more has to be read first.
  std::optional<bool> keeps(const RowView& row, const row_key::Parts& parts);
  bool keeps_newest(const RowView& row, const row_key::Parts& parts);
  /// Its stream has expired, and its rows go: so does the one in the index.
  void unlist(const RowView& descriptor, const row_key::Parts& parts);
  bool keeps_data(const row_key::Parts& parts);
  bool may_lie_outside(const RowView& row, StreamId id) const;
  bool is_full(const TableBuilder& output, StreamId next) const;

  Tree tree_;
  std::vector<TableScan> inputs_;
  std::vector<ManifestTable> outside_;
  bool joins_;
  HotRows hot_;
  ExpiredBy expired_;
  uint64_t output_bytes_;
  uint8_t cut_bits_;
  std::optional<Known> known_;
  std::optional<StreamId> added_;  // the stream of the last row of the output
  std::string passed_;
  std::shared_ptr<Memtable> unlisted_ = std::make_shared<Memtable>();
  Dropped dropped_;
};

}  // namespace morula
