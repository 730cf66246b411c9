#include "core/topology/topology.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/document.hpp"

namespace morula {

namespace {

constexpr DocumentFormat kFormat{"morula-topology", 1};

bool partitions_space(const std::vector<TopologyShard>& shards) {
  uint64_t covered = 0;  // in units of the smallest shard; the next prefix must begin here
  for (const TopologyShard& shard : shards) {
    const uint64_t width = uint64_t{1} << (Prefix::kMaxLength - shard.prefix.length);
    if (shard.prefix.bits * width != covered) return false;
    covered += width;
  }
  return covered == uint64_t{1} << Prefix::kMaxLength;
}

Result<TopologyShard> decode_shard(const Json& json, std::string path) {
  MemberReader in(json, std::move(path));
  TopologyShard shard;
  shard.prefix = in.parsed("prefix", Prefix::parse);
  shard.epoch = Epoch(in.number("epoch"));
  shard.owner = in.parsed("owner", IncarnationId::parse);
  shard.manifest = in.string("manifest");
  for (const Json& log : in.array("logs")) {
    auto incarnation = IncarnationId::parse(log.as_string() == nullptr ? "" : *log.as_string());
    if (!incarnation) in.wrong("logs", incarnation.error().message);
    if (incarnation) shard.logs.push_back(*incarnation);
  }
  MORULA_TRY(in.finish());
  return shard;
}

}  // namespace

const TopologyShard* Topology::find(Prefix prefix) const {
  const TopologyShard* at = last_up_to(prefix.first());
  return at != nullptr && at->prefix == prefix ? at : nullptr;
}

/// The last shard that begins at or before the id; null: none does.
const TopologyShard* Topology::last_up_to(StreamId id) const {
  const auto behind = std::ranges::upper_bound(
      shards, id, {}, [](const TopologyShard& shard) { return shard.prefix.first(); });
  return behind == shards.begin() ? nullptr : &*std::prev(behind);
}

const TopologyShard& Topology::shard_of(StreamId id) const {
  const TopologyShard* found = last_up_to(id);
  MORULA_CHECK(found != nullptr && found->prefix.contains(id), "a topology partitions the space");
  return *found;
}

std::vector<IncarnationId> row_logs(const Manifest& manifest, const IncarnationId& owner) {
  std::vector<IncarnationId> logs = manifest.log_incarnations();
  logs.push_back(owner);
  std::sort(logs.begin(), logs.end());
  logs.erase(std::unique(logs.begin(), logs.end()), logs.end());
  return logs;
}

std::string encode_topology(const Topology& topology) {
  Json::Array shards;
  for (const TopologyShard& shard : topology.shards) {
    Json::Array logs;
    for (const IncarnationId& log : shard.logs) logs.emplace_back(log.text());
    shards.emplace_back(Json::Object{{"prefix", shard.prefix.text()},
                                     {"epoch", shard.epoch.value},
                                     {"owner", shard.owner.text()},
                                     {"manifest", shard.manifest},
                                     {"logs", std::move(logs)}});
  }
  return encode_document(kFormat, {{"version", topology.version.value},
                                   {"shards", std::move(shards)},
                                   {"writer", topology.writer.text()},
                                   {"nonce", topology.nonce.text()}});
}

Result<Topology> decode_topology(std::string_view text) {
  auto json = open_document(kFormat, text);
  MORULA_TRY(json);
  MemberReader in(*json);
  Topology topology;
  topology.version = Version(in.number("version"));
  topology.writer = in.parsed("writer", IncarnationId::parse);
  topology.nonce = in.parsed("nonce", Ulid::parse);
  for (const Json& entry : in.array("shards")) {
    auto shard = decode_shard(entry, "shards[" + std::to_string(topology.shards.size()) + "]");
    MORULA_TRY(shard);
    topology.shards.push_back(std::move(*shard));
  }
  MORULA_TRY(in.finish());
  if (!partitions_space(topology.shards)) {
    return fail(ErrorCode::kCorrupt, "shards do not partition the hash space in order");
  }
  return topology;
}

}  // namespace morula
