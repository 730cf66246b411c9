#include "core/cell/shard_receiver.hpp"

#include <algorithm>
#include <array>

#include "core/base/mutant.hpp"
#include "core/lsm/manifest_succession.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/shard/replay.hpp"

namespace morula {

namespace {

constexpr size_t kPromisesMax = 256;
constexpr size_t kPreparedMax = 64;
constexpr Duration kPreparedFor = std::chrono::minutes(1);

}  // namespace

Result<> ShardReceiver::prepare(const PrepareMessage& message) {
  forget_old();
  if (prepared_.size() >= kPreparedMax) {
    return fail(ErrorCode::kBusy, "enough shards are being received");
  }
  const auto mutex = opening_.try_emplace(message.shard, std::make_shared<Mutex>()).first->second;
  const MutexLock lock(*mutex);
  return open(message);
}

Result<> ShardReceiver::open(const PrepareMessage& message) {
  // Where the giver's entry will end is not known yet: for now it ends at what has come so far.
  Manifest manifest = message.manifest;
  close_logs(manifest, message.from, message.acknowledged);
  AdoptedShard now{message.shard,
                   message.epoch,
                   log_.incarnation(),
                   message.manifest_key,
                   {std::move(manifest), {}},
                   log_.pin_next()};
  std::shared_ptr<Shard> shard;
  if (auto known = prepared_.extract(message.shard)) shard = std::move(known.mapped().shard);
  if (shard != nullptr) {
    const auto settled = shard->settle(now);
    MORULA_TRY(settled);
    if (!*settled) shard = nullptr;
  }
  if (shard == nullptr) {
    shard = host_.make_shard(std::move(now));
    MORULA_TRY(shard->open_tables());
  }
  const std::array<std::shared_ptr<Shard>, 1> shards{shard};
  MORULA_TRY(replay_closed_ranges(env_, retry_, log_, shards));
  prepared_[message.shard] = {std::move(shard), message.from, env_.clock.now()};
  return {};
}

// Step Accept
Result<LogSeq> ShardReceiver::Accept(const AcceptMessage& message) {
  const auto known = promises_.find(message.attempt);
  const bool again = known != promises_.end();
  env_.trace.sometimes("a receiver was asked a second time in an attempt", again);
  if (again && !mutated(Mutant::ask_again_new_position)) return known->second.from.seq();
  if (!again && promises_.size() >= kPromisesMax) {
    return fail(ErrorCode::kBusy, "enough shards are being received");
  }
  Promise promise{log_.pin_next(), message.topology};
  const LogSeq from = promise.from.seq();
  if (mutated(Mutant::pin_dropped_early)) promise.from.release();
  promises_.insert_or_assign(message.attempt, std::move(promise));
  env_.trace.step({Step::kAccept, log_.incarnation().text(), message.shard.text(), from.value,
                   message.topology.value, message.attempt.low});
  return from;
}

void ShardReceiver::trimmed(Version topology) {
  std::erase_if(promises_, [&](const auto& entry) { return entry.second.topology < topology; });
}

void ShardReceiver::note_named(const std::string& key, Versioned<Manifest> manifest) {
  if (named_.size() >= kPreparedMax) named_.clear();  // they can be read
  named_.insert_or_assign(key, std::move(manifest));
}

Result<Versioned<Manifest>> ShardReceiver::named_manifest(const std::string& key) {
  auto told = named_.extract(key);
  if (told.empty()) return read_manifest(env_, key, retry_);
  return std::move(told.mapped());
}

std::shared_ptr<Shard> ShardReceiver::take(Prefix shard) {
  const auto opening = opening_.extract(shard);
  if (!opening) return nullptr;
  const auto mutex = opening.mapped();
  const MutexLock opened(*mutex);
  auto prepared = prepared_.extract(shard);
  return prepared ? std::move(prepared.mapped().shard) : nullptr;
}

void ShardReceiver::forget_old() {
  std::erase_if(opening_, [&](const auto& entry) {
    return !entry.second->locked() && !prepared_.contains(entry.first);
  });
  std::erase_if(prepared_, [&](const auto& entry) {
    return env_.clock.now() - entry.second.at > kPreparedFor;
  });
}

}  // namespace morula
