// `cell.json`: what makes a bucket one cell. Created once, never changed.
#pragma once

#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

struct CellDocument {
  Ulid cell;            // its identity
  uint64_t window = 8;  // W of every log: a constant that every taker must know
  HashSecret hash_secret{};
  IncarnationId writer;
};

std::string encode_cell(const CellDocument& cell);
/// kCorrupt, naming the field.
Result<CellDocument> decode_cell(std::string_view text);

/// The bucket's cell; an empty bucket becomes a new one with this window. kCorrupt when the bucket
/// isn't empty and lacks the document. Suspends.
Result<CellDocument> open_cell(const Env& env, const RetryConfig& retry, const IncarnationId& self,
                               uint64_t window);

}  // namespace morula
