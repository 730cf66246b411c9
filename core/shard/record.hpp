// The log record of a shard's change: the rows of one stream that change together.
//
//   varint count, then for each row
//     u8      bit 0: data tree, bit 1: tombstone, bit 2: index tree; without 0 and 2: meta tree
//     varint  change number
//     string  key without the stream id, which the log keeps beside the record: meta and data keys
//             begin with it, index keys end with it
//     string  value
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/lsm/changed_rows.hpp"
#include "core/lsm/row.hpp"

namespace morula {

/// Appends to `out`. All rows are of the stream `id`.
void encode_record(StreamId id, const ChangedRows& rows, std::string& out);
/// kCorrupt for anything that is no record.
Result<std::vector<Row>> decode_record(StreamId id, std::string_view payload);

}  // namespace morula
