#include "core/inspect/stored_cell.hpp"

#include <algorithm>

#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

namespace {

/// nullopt when it is absent, or damaged, which `damage` then tells.
template <class T>
Result<std::optional<T>> read_if_whole(const Env& env, const std::string& key,
                                       const RetryConfig& retry,
                                       Result<T> (*decode)(std::string_view),
                                       std::optional<std::string>& damage) {
  auto found = read_document(env, key, Purpose::kMetaRead, retry, decode);
  if (!found && found.error().code == ErrorCode::kCorrupt) {
    damage = found.error().message;
    return std::nullopt;
  }
  MORULA_TRY(found);
  if (!*found) return std::nullopt;
  return std::move((*found)->content);
}

Result<ShardView> view_shard(const Env& env, const RetryConfig& retry, const TopologyShard& row) {
  ShardView view;
  view.row = row;
  auto manifest = read_if_whole(env, row.manifest, retry, decode_manifest, view.damage);
  MORULA_TRY(manifest);
  view.manifest = std::move(*manifest);
  std::optional<std::string> ignored;  // the walk over all objects finds it
  auto owner = read_if_whole(env, keys::member(row.owner.name), retry, decode_member, ignored);
  MORULA_TRY(owner);
  if (*owner && (*owner)->incarnation == row.owner) view.owner = std::move(*owner);
  return view;
}

}  // namespace

const ShardView* StoredCell::find(Prefix prefix) const {
  const auto found = std::find_if(shards.begin(), shards.end(), [&](const ShardView& shard) {
    return shard.row.prefix == prefix;
  });
  return found == shards.end() ? nullptr : &*found;
}

bool StoredCell::same_as(const StoredCell& earlier) const {
  if (topology.has_value() != earlier.topology.has_value()) return false;
  if (topology && topology->version != earlier.topology->version) return false;
  return std::equal(shards.begin(), shards.end(), earlier.shards.begin(), earlier.shards.end(),
                    [](const ShardView& a, const ShardView& b) {
                      if (a.manifest.has_value() != b.manifest.has_value()) return false;
                      return !a.manifest || a.manifest->version == b.manifest->version;
                    });
}

Result<StoredCell> view_stored_cell(const Env& env, const RetryConfig& retry) {
  StoredCell view;
  const auto read = [&](std::string_view key, auto decode) {
    std::optional<std::string> damage;
    auto found = read_if_whole(env, std::string(key), retry, decode, damage);
    if (damage) view.damaged[std::string(key)] = *damage;
    return found;
  };
  auto cell = read(keys::kCell, decode_cell);
  MORULA_TRY(cell);
  view.cell = std::move(*cell);
  auto topology = read(keys::kTopology, decode_topology);
  MORULA_TRY(topology);
  view.topology = std::move(*topology);
  if (!view.topology) return view;
  for (const TopologyShard& row : view.topology->shards) {
    auto shard = view_shard(env, retry, row);
    MORULA_TRY(shard);
    view.shards.push_back(std::move(*shard));
  }
  return view;
}

}  // namespace morula
