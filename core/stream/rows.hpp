// What the rows of a stream say: values of hot, descriptor, producer, sequence, data and index
// rows. Formats: core/stream/FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/lsm/row.hpp"
#include "core/stream/expiry.hpp"

namespace morula {

/// All that an append needs to know of a stream; at most 40 bytes. The row's tombstone has the same
/// value: what the stream was when it was deleted.
struct HotRow {
  Offset tail;
  bool json = false;
  bool has_sequence = false;  // a sequence row exists
  Expiry::Kind expiry_kind = Expiry::Kind::kNone;
  uint8_t content_type_code = 0;     // 0: the descriptor has the content type
  std::optional<WallTime> deadline;  // from when on the stream is gone: see renewal.cpp
  uint64_t check = 0;                // the check hash of (tenant, path)
  friend bool operator==(const HotRow&, const HotRow&) = default;
};

struct DescriptorRow {
  std::string content_type;  // as it was given
  Expiry expiry;
  WallTime created;
  std::string tenant;
  std::string path;
};

/// What is known of one idempotent producer.
struct ProducerRow {
  uint64_t epoch = 0;
  uint64_t seq = 0;  // the highest accepted
  Offset tail;       // after the append that had it
  friend bool operator==(const ProducerRow&, const ProducerRow&) = default;
};

/// What a listing tells of a stream, written once, at its creation: so only what never changes. A
/// tombstone has no value.
struct IndexRow {
  std::string content_type;  // as it was given
  WallTime created;
  /// When the stream ends unless it is renewed: until then a listing needs no look at its hot row.
  std::optional<WallTime> first_deadline;
  friend bool operator==(const IndexRow&, const IndexRow&) = default;
};

/// Each appends a row's value to `value`.
void encode_hot(const HotRow& row, std::string& value);
void encode_descriptor(const DescriptorRow& row, std::string& value);
void encode_producer(const ProducerRow& row, std::string& value);
void encode_sequence(std::string_view last, std::string& value);
void encode_index(const IndexRow& row, std::string& value);

/// For compaction, which knows no more of rows: from when on the stream of a hot row is gone, as
/// far as the row says; nullopt: never, or the row can't be read.
std::optional<WallTime> deadline_of_hot_row(std::string_view value);
/// Likewise: the key of the index row of the creation with this descriptor row.
std::optional<std::string> listing_of_descriptor_row(std::string_view value, StreamId id,
                                                     Generation generation);

/// Each: kCorrupt when the value is not exactly that.
Result<HotRow> decode_hot(std::string_view value);
Result<DescriptorRow> decode_descriptor(std::string_view value);
Result<ProducerRow> decode_producer(std::string_view value);
Result<std::string> decode_sequence(std::string_view value);
Result<IndexRow> decode_index(std::string_view value);

/// The messages of one append, none of them empty, one after the other, and how long each is.
struct Messages {
  std::string_view bytes;
  std::string_view lengths;  // a varint each; empty when there is exactly one message
  uint64_t count = 0;
};

void encode_data(Offset start, const Messages& messages, std::string& value);

/// A data row, read message by message.
class DataRow {
 public:
  /// kCorrupt when key or value can't be those of a data row. The row's value must outlive this.
  static Result<DataRow> decode(const RowView& row);

  Offset start() const { return start_; }
  Offset end() const { return end_; }
  /// Where the next message begins.
  Offset position() const { return position_; }

  /// The next message; nullopt after the last. kCorrupt when lengths and bytes don't fit, or the
  /// last message doesn't end at the key's offset.
  Result<std::optional<std::string_view>> next();

 private:
  Offset start_;
  Offset end_;
  Offset position_;
  std::string_view lengths_;  // of the messages still to come
  std::string_view bytes_;
};

}  // namespace morula
