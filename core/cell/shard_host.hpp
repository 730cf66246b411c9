// What splits, merges and moves need of the instance that they happen in.
#pragma once

#include <memory>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/shard.hpp"

namespace morula {

class ShardHost {
 public:
  virtual ~ShardHost() = default;

  /// A shard over the instance's log, lease, cache and memory; nothing of it is open yet.
  virtual std::shared_ptr<Shard> make_shard(AdoptedShard adopted) = 0;
  /// Starts its fibers.
  virtual void run_shard(const std::shared_ptr<Shard>& shard) = 0;
  /// Where the incarnation answers. kInvalid: it is not a live member. Suspends.
  virtual Result<std::string> address_of(const IncarnationId& incarnation) = 0;
};

}  // namespace morula
