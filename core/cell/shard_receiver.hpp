// Shards that others give to this instance (OWNERSHIP R4), the receiver's side: what is opened
// ahead, and the log positions that were promised.
#pragma once

#include <map>
#include <memory>

#include "core/base/ids.hpp"
#include "core/cell/handoff_messages.hpp"
#include "core/cell/shard_host.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/store/conditional.hpp"

namespace morula {

class ShardReceiver {
 public:
  /// All outlive it.
  ShardReceiver(const Env& env, const RetryConfig& retry, LogWriter& log, ShardHost& host)
      : env_(env), retry_(retry), log_(log), host_(host) {}

  /// Opens the shard as it is now; again: what has come since. Forgotten after a minute. Suspends.
  Result<> prepare(const PrepareMessage& message);
  /// Step Accept. Where the own entry of the shard would begin, pinned until `trimmed`; for a
  /// repeated ask of the attempt the same. kBusy: too many are open.
  Result<LogSeq> Accept(const AcceptMessage& message);
  /// A trim, which has noted pins and position before, has read the topology in this version.
  void trimmed(Version topology);
  bool has_promised() const { return !promises_.empty(); }

  /// The giver has told what the topology names.
  void note_named(const std::string& key, Versioned<Manifest> manifest);
  /// What was told of it, once; else it is read. Suspends.
  Result<Versioned<Manifest>> named_manifest(const std::string& key);
  /// What was opened ahead of the shard, which the receiver has no more then; null: nothing.
  /// Suspends while it is being opened.
  std::shared_ptr<Shard> take(Prefix shard);
  void forget_old();

 private:
  struct Prepared {
    std::shared_ptr<Shard> shard;
    IncarnationId from;
    Time at{};
  };
  struct Promise {
    LogPin from;
    Version topology;
  };

  Result<> open(const PrepareMessage& message);

  const Env env_;
  const RetryConfig retry_;
  LogWriter& log_;
  ShardHost& host_;
  std::map<Prefix, Prepared> prepared_;
  std::map<Prefix, std::shared_ptr<Mutex>> opening_;  // held while a shard is being opened
  std::map<Ulid, Promise> promises_;                  // by attempt
  std::map<std::string, Versioned<Manifest>> named_;
};

}  // namespace morula
