#include "core/topology/topology.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/json.hpp"

namespace morula {

namespace {

constexpr uint64_t kFormat = 1;

bool partitions_space(const std::vector<TopologyShard>& shards) {
  uint64_t covered = 0;  // in units of the smallest shard; the next prefix must begin here
  for (const TopologyShard& shard : shards) {
    const uint64_t width = uint64_t{1} << (Prefix::kMaxLength - shard.prefix.length);
    if (shard.prefix.bits * width != covered) return false;
    covered += width;
  }
  return covered == uint64_t{1} << Prefix::kMaxLength;
}

Result<TopologyShard> decode_shard(const Json& json) {
  TopologyShard shard;
  auto prefix = json.string_at("prefix").and_then(Prefix::parse);
  MORULA_TRY(prefix);
  shard.prefix = *prefix;
  auto epoch = json.u64_at("epoch");
  MORULA_TRY(epoch);
  shard.epoch = Epoch(*epoch);
  auto owner = json.string_at("owner").and_then(IncarnationId::parse);
  MORULA_TRY(owner);
  shard.owner = *owner;
  auto manifest = json.string_at("manifest");
  MORULA_TRY(manifest);
  shard.manifest = *manifest;
  auto logs = json.array_at("logs");
  MORULA_TRY(logs);
  for (const Json& log : *logs) {
    if (log.as_string() == nullptr) return fail(ErrorCode::kCorrupt, "logs: must be strings");
    auto incarnation = IncarnationId::parse(*log.as_string());
    MORULA_TRY(incarnation);
    shard.logs.push_back(*incarnation);
  }
  return shard;
}

}  // namespace

const TopologyShard* Topology::find(Prefix prefix) const {
  for (const TopologyShard& shard : shards) {
    if (shard.prefix == prefix) return &shard;
  }
  return nullptr;
}

const TopologyShard& Topology::shard_of(StreamId id) const {
  const auto found = std::find_if(shards.begin(), shards.end(), [id](const TopologyShard& shard) {
    return shard.prefix.contains(id);
  });
  MORULA_CHECK(found != shards.end(), "a topology partitions the space");
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
  return Json(Json::Object{{"format", kFormat},
                           {"version", topology.version.value},
                           {"shards", std::move(shards)},
                           {"writer", topology.writer.text()},
                           {"nonce", topology.nonce.text()}})
      .pretty();
}

Result<Topology> decode_topology(std::string_view text) {
  auto json = Json::parse(text);
  MORULA_TRY(json);
  auto format = json->u64_at("format");
  MORULA_TRY(format);
  if (*format != kFormat) {
    return fail(ErrorCode::kCorrupt, "format: " + std::to_string(*format) +
                                         " is not known to this version, which reads 1");
  }
  Topology topology;
  auto version = json->u64_at("version");
  MORULA_TRY(version);
  topology.version = Version(*version);
  auto writer = json->string_at("writer").and_then(IncarnationId::parse);
  MORULA_TRY(writer);
  topology.writer = *writer;
  auto nonce = json->string_at("nonce").and_then(Ulid::parse);
  MORULA_TRY(nonce);
  topology.nonce = *nonce;
  auto shards = json->array_at("shards");
  MORULA_TRY(shards);
  for (const Json& entry : *shards) {
    auto shard = decode_shard(entry);
    MORULA_TRY(shard);
    topology.shards.push_back(std::move(*shard));
  }
  if (!partitions_space(topology.shards)) {
    return fail(ErrorCode::kCorrupt, "shards: do not partition the hash space in order");
  }
  return topology;
}

}  // namespace morula
