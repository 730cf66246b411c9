// What the tests of the log share: who they are, fates of requests, and ways to look into a log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/mutant.hpp"
#include "core/log/fence.hpp"
#include "core/log/log_object.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/env.hpp"
#include "core/rt/fiber.hpp"
#include "core/store/keys.hpp"
#include "sim/world/test_world.hpp"
#include "tests/sim/fates.hpp"

namespace morula::log_test {

using sim::answer_lost;
using sim::flipped;
using sim::landing_after;
using sim::refused;
using sim::request_lost;
using sim::StoreCall;
using sim::StoreFate;
using sim::StoreRequest;
using sim::TestWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline const IncarnationId kOwner{"owner", Ulid{1, 1}};
inline const IncarnationId kTaker{"taker", Ulid{2, 2}};
inline const IncarnationId kOther{"other", Ulid{3, 3}};
inline const StreamId kStream{0x0123456789abcdef, 0xfedcba9876543210};

inline std::string log_key(uint64_t seq) {
  return keys::log_object(kOwner, LogSeq(seq));
}

/// A batch of the owner with one record, as its own writer would put it.
inline std::string batch_bytes(uint64_t seq, std::string_view payload = "planted") {
  LogBatchBuilder builder(kOwner, LogSeq(seq), seq);
  builder.add(StreamId{seq, 0}, payload);
  return builder.finish(WallTime{});
}

inline std::string fence_bytes(uint64_t seq, const IncarnationId& writer = kOther) {
  return encode_fence(kOwner, LogSeq(seq), writer, 1000 + seq);
}

inline void plant_batches(TestWorld& world, std::initializer_list<uint64_t> seqs) {
  for (const uint64_t seq : seqs) world.store().plant(log_key(seq), batch_bytes(seq));
}

/// Seqs of the owner's log objects that lie in the store now.
inline std::vector<uint64_t> seqs_of_log(TestWorld& world) {
  std::vector<uint64_t> seqs;
  for (const std::string& key : world.store().keys(keys::log_folder(kOwner))) {
    seqs.push_back(keys::log_seq(key)->value);
  }
  return seqs;
}

/// Payloads of the batch at `seq`, in order.
inline std::vector<std::string> payloads_at(TestWorld& world, uint64_t seq) {
  const Blob bytes = world.store().peek(log_key(seq));
  std::vector<std::string> payloads;
  const auto object = decode_log_object(*bytes);
  for (const LogRecord& record : object.value().records) payloads.emplace_back(record.payload);
  return payloads;
}

inline bool is_fence_at(TestWorld& world, uint64_t seq) {
  const Blob bytes = world.store().peek(log_key(seq));
  return bytes != nullptr && decode_log_object(*bytes).value().is_fence;
}

/// Runs `body` with the owner's log writer, and closes the log after it.
inline void run_log(const Env& env, const LogConfig& config,
                    const std::function<void(LogWriter&)>& body) {
  std::optional<LogWriter> log;  // outlives the scope
  with_scope(env.domain, [&](Scope& scope) {
    log.emplace(env, config, kOwner, scope);
    body(*log);
  });
}

/// The same in the world's process.
inline void with_log(TestWorld& world, const LogConfig& config,
                     const std::function<void(const Env&, LogWriter&)>& body) {
  world.run([&](const Env& env) { run_log(env, config, [&](LogWriter& log) { body(env, log); }); });
}

/// Of a PUT to the owner's log: its seq; nullopt for any other request.
inline std::optional<uint64_t> put_seq(const StoreRequest& request) {
  if (request.call != StoreCall::kPut) return std::nullopt;
  if (!request.key.starts_with(keys::log_folder(kOwner))) return std::nullopt;
  return keys::log_seq(request.key)->value;
}

/// The fate of the nth PUT (from 0) to each seq; of all others the default.
inline void set_put_fates(TestWorld& world, std::map<std::pair<uint64_t, int>, StoreFate> fates) {
  world.store().set_fates(
      [fates, puts = std::map<uint64_t, int>()](const StoreRequest& request) mutable {
        const auto seq = put_seq(request);
        if (!seq) return StoreFate{};
        const auto found = fates.find({*seq, puts[*seq]++});
        return found == fates.end() ? StoreFate{} : found->second;
      });
}

/// Breaks one rule while alive.
class WithMutant {
 public:
  explicit WithMutant(Mutant mutant) { active_mutant = mutant; }
  ~WithMutant() { active_mutant = Mutant::none; }
  WithMutant(const WithMutant&) = delete;
  WithMutant& operator=(const WithMutant&) = delete;
};

}  // namespace morula::log_test
