#include "core/topology/topology_document.hpp"

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

Result<std::optional<Versioned<Topology>>> read_topology(const Env& env, const RetryConfig& retry,
                                                         Purpose purpose) {
  return read_document(env, keys::kTopology, purpose, retry, decode_topology);
}

Topology next_version(const Env& env, Topology topology, const IncarnationId& writer) {
  ++topology.version;
  topology.writer = writer;
  topology.nonce = Ulid::draw(env.clock.wall(), env.random);
  return topology;
}

}  // namespace morula
