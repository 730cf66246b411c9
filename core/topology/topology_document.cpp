#include "core/topology/topology_document.hpp"

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/store/keys.hpp"

namespace morula {

Result<std::optional<Versioned<Topology>>> read_topology(const Env& env, const RetryConfig& retry) {
  auto object = get_object(env, keys::kTopology, Purpose::kOwnership, retry);
  MORULA_TRY(object);
  if (!*object) return std::nullopt;
  auto topology = decode_topology(*(*object)->body);
  if (!topology) {
    return fail(ErrorCode::kCorrupt,
                std::string(keys::kTopology) + ": " + topology.error().message);
  }
  return Versioned<Topology>{std::move(*topology), (*object)->etag};
}

Topology next_version(const Env& env, Topology topology, const IncarnationId& writer) {
  ++topology.version;
  topology.writer = writer;
  topology.nonce = Ulid::draw(env.clock.wall(), env.random);
  return topology;
}

}  // namespace morula
