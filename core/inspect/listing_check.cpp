#include "core/inspect/listing_check.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/lsm/block_cache.hpp"
#include "core/lsm/tree_reader.hpp"

namespace morula {

namespace {

constexpr uint64_t kCacheBytes = 16 * kMiB;

/// One creation of a stream that is there.
using Creation = std::pair<StreamId, Generation>;

Result<TreeReader> open_tree(const Env& env, BlockCache& cache, const Manifest& manifest,
                             Tree tree) {
  TreeSources sources;
  for (const ManifestTable& entry : manifest.tables) {
    if (entry.tree != tree) continue;
    auto table = Table::open(env, cache, entry.key, entry.bytes, entry.tree);
    MORULA_TRY(table);
    sources.tables.push_back({*std::move(table), entry.clip, entry.streams});
  }
  return TreeReader(tree, std::move(sources));
}

/// Of each stream the first row is of its newest creation: the hot row, or the one in the index.
Result<std::vector<Creation>> newest_creations(const TreeReader& reader, Tree tree) {
  std::vector<Creation> found;
  std::string last;
  RangeScan all{{}, std::string(row_key::kStreamBytes + 1, '\xff')};
  const auto scanned = reader.scan_range(all, [&](const RowView& row) -> Result<bool> {
    const std::string_view place = row_key::place(tree, row.key);
    if (place == last) return true;
    last = place;
    const auto parts = row_key::parse(tree, row.key);
    MORULA_TRY(parts);
    if (!row.deleted) found.emplace_back(parts->id, parts->generation);
    return true;
  });
  MORULA_TRY(scanned);
  std::ranges::sort(found);
  return found;
}

/// What is in `some` and not in `others`; both ascend.
std::vector<Creation> missing_in(const std::vector<Creation>& others,
                                 const std::vector<Creation>& some) {
  std::vector<Creation> missing;
  std::ranges::set_difference(some, others, std::back_inserter(missing));
  return missing;
}

std::string words(const std::vector<Creation>& streams, std::string_view what) {
  const auto& [id, generation] = streams.front();
  return std::to_string(streams.size()) + " streams " + std::string(what) + ", such as " +
         id.text() + " in generation " + std::to_string(generation.value);
}

}  // namespace

Result<std::optional<std::string>> check_listing(const Env& env, const Manifest& manifest) {
  BlockCache cache(kCacheBytes);
  std::vector<Creation> creations[2];
  for (const Tree tree : {Tree::kMeta, Tree::kIndex}) {
    const auto reader = open_tree(env, cache, manifest, tree);
    MORULA_TRY(reader);
    auto found = newest_creations(*reader, tree);
    MORULA_TRY(found);
    creations[tree == Tree::kMeta ? 0 : 1] = *std::move(found);
  }
  const auto& [held, listed] = creations;
  const auto unlisted = missing_in(listed, held);
  const auto absent = missing_in(held, listed);
  std::string what;
  if (!unlisted.empty()) what = words(unlisted, "exist and are not listed");
  if (!absent.empty()) {
    what += (what.empty() ? "" : "; ") + words(absent, "are listed and don't exist");
  }
  if (what.empty()) return std::nullopt;
  return what;
}

}  // namespace morula
