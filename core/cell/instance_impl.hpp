// What an instance is made of. Only for the files of the instance.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api.hpp"
#include "core/cell/instance.hpp"
#include "core/cell/membership.hpp"
#include "core/cell/shard_map.hpp"
#include "core/fleet/lease.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/memtables.hpp"
#include "core/shard/table_numbers.hpp"

namespace morula {

struct Instance::Impl {
  Impl(const Env& e, InstanceConfig c, MemoryBudget& memory)
      : env(e),
        config(std::move(c)),
        self{config.name, Ulid::draw(env.clock.wall(), env.random)},
        lease(env, config.lease, config.retry, self),
        membership(env, config.lease, config.retry, self),
        cache(config.block_cache_bytes, config.second_tier),
        memtables(memory),
        shards(env, self) {
    memory.block_cache.measure([this] { return cache.bytes(); });
  }
  ~Impl() { memtables.memory().block_cache.measure(nullptr); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<Ended> run(Scope& fibers);
  Result<> join(Scope& fibers);
  Result<Ended> serve_until_end(Scope& fibers, Scope& requests);
  Result<Ended> finish();
  void log_ending();
  void drain(Scope& requests, Duration grace);

  void end_with(Ended how);
  void end_with(Error error);

  void keep_lease();
  void keep_looking(Scope& fibers);
  void keep_trimming();
  void keep_collecting();

  Result<> look(Scope& fibers);
  Result<> begin_cell(Scope& fibers);
  Result<> take_over(Scope& fibers, const IncarnationId& owner, LogSeq hint);
  Result<std::vector<std::shared_ptr<Shard>>> open_adopted(std::vector<AdoptedShard> adopted);
  Result<> serve(Scope& fibers, std::vector<AdoptedShard> adopted);
  Result<bool> were_taken(const std::vector<std::string>& manifests);

  const Env env;
  InstanceConfig config;
  const IncarnationId self;
  Lease lease;
  Membership membership;
  BlockCache cache;
  TableNumbers table_numbers;
  Memtables memtables;
  std::unique_ptr<LogWriter> log;
  ShardMap shards;  // its shards hold pins of the log
  std::unique_ptr<Api> api;

  bool alone = false;
  Event settled;  // joined, or ending
  Event ending;
  Ended ended = Ended::kStopped;
  std::optional<Error> fatal;
};

}  // namespace morula
