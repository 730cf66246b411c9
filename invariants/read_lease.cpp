#include "invariants/read_lease.hpp"

#include "core/api/target.hpp"
#include "core/stream/limits.hpp"

namespace morula::invariants {

void ReadLease::acknowledged(StreamId stream, const IncarnationId& actor, Duration now) {
  const Topology* topology = reachable_.topology();
  if (topology == nullptr) return;
  const TopologyShard& shard = topology->shard_of(stream);
  if (shard.owner != actor) return;
  Write& first = first_writes_[shard.prefix];
  if (first.by != actor) first = {actor, now};
}

void ReadLease::answered(std::string_view instance, std::string_view tenant,
                         std::string_view target, Duration now) {
  const Topology* topology = reachable_.topology();
  if (topology == nullptr || !hasher_) return;
  auto parsed = RequestTarget::parse(target);
  if (!parsed || !parsed->raw_path().starts_with(kStreamPrefix)) return;
  auto path = stream_path(parsed->raw_path(), StreamLimits{}.path_bytes_max);
  if (!path) return;
  const TopologyShard& shard = topology->shard_of((*hasher_)(tenant, *path).id);
  auto first = first_writes_.find(shard.prefix);
  bool written = first != first_writes_.end() && first->second.by == shard.owner;
  if (!written || shard.owner.name == instance) return;
  violations_.report(Invariant::kLinearizable, now,
                     std::string(instance) + " answers a read of " + *path + " from its own state" +
                         ", but shard " + shard.prefix.text() + " is owned by " +
                         shard.owner.text() + ", which has acknowledged a write to it at " +
                         time_text(first->second.at) + ": its lease cannot hold any more");
}

}  // namespace morula::invariants
