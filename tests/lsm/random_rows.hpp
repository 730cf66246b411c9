// Rows for property tests. A row's value follows from its key and change number, as a stream's
// owner would write it: two rows that agree in both are the same row.
#pragma once

#include <rapidcheck.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/codec.hpp"
#include "core/lsm/row.hpp"

namespace morula {

inline bool operator==(const Row& a, const Row& b) {
  return a.tree == b.tree && a.key == b.key && a.change == b.change && a.deleted == b.deleted &&
         a.value == b.value;
}

/// Few streams, of all quarters of the hash space, so that rows meet and clips cut.
inline rc::Gen<StreamId> stream_ids() {
  return rc::gen::map(rc::gen::inRange<uint64_t>(0, 8), [](uint64_t n) {
    return StreamId{n << 61 | 7, n % 2};
  });
}

inline rc::Gen<size_t> value_sizes() {
  return rc::gen::weightedOneOf<size_t>({{40, rc::gen::inRange<size_t>(0, 60)},
                                         {4, rc::gen::inRange<size_t>(500, 6000)},
                                         {1, rc::gen::inRange<size_t>(40'000, 150'000)}});
}

inline Row row_of(Tree tree, std::string key, uint64_t change, size_t value_bytes = SIZE_MAX) {
  const uint64_t hash = checksum(key + "/" + std::to_string(change));
  if (value_bytes == SIZE_MAX) value_bytes = hash % 50;
  std::string value(value_bytes, '\0');
  uint64_t state = hash | 1;
  for (char& byte : value) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<char>(state >> 56);
  }
  return {tree, std::move(key), ChangeNumber(change), hash % 5 == 0, std::move(value)};
}

inline rc::Gen<std::string> meta_keys() {
  return rc::gen::apply(
      [](StreamId id, uint64_t generation, int kind, const std::string& producer) {
        const auto row_kind = static_cast<RowKind>(kind);
        return row_key::meta(id, Generation(generation), row_kind,
                             row_kind == RowKind::kProducer ? producer : std::string());
      },
      stream_ids(), rc::gen::inRange<uint64_t>(1, 5), rc::gen::inRange(0, 3),
      rc::gen::element<std::string>("a", "ab", "abc", std::string(200, 'p'), "z"));
}

inline rc::Gen<std::string> data_keys() {
  return rc::gen::apply(
      [](StreamId id, uint64_t generation, uint64_t messages, uint64_t bytes) {
        return row_key::data(id, Generation(generation), Offset{messages, bytes});
      },
      stream_ids(), rc::gen::inRange<uint64_t>(1, 4), rc::gen::inRange<uint64_t>(1, 12),
      rc::gen::inRange<uint64_t>(0, 3));
}

inline rc::Gen<Row> rows_of(Tree tree) {
  return rc::gen::apply([=](std::string key, uint64_t change) { return row_of(tree, key, change); },
                        tree == Tree::kMeta ? meta_keys() : data_keys(),
                        rc::gen::inRange<uint64_t>(1, 9));
}

/// What a tree holds: the newest row of each key.
using TreeModel = std::map<std::string, Row>;

inline void model_put(TreeModel& model, const Row& row) {
  const auto [place, is_new] = model.emplace(row.key, row);
  if (!is_new && row.change > place->second.change) place->second = row;
}

}  // namespace morula
