// What the tests of the log share: two incarnations, short waits, and ways to look into a log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/log/fence.hpp"
#include "core/log/log_object.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/env.hpp"
#include "core/rt/fiber.hpp"
#include "core/store/keys.hpp"
#include "sim/world/test_world.hpp"

namespace morula::log_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline const IncarnationId kOwner{"owner", Ulid{1, 1}};
inline const IncarnationId kTaker{"taker", Ulid{2, 2}};
inline const IncarnationId kOther{"other", Ulid{3, 3}};

inline std::string log_key(uint64_t seq) {
  return keys::log_object(kOwner, LogSeq(seq));
}

/// A batch of the owner with one record, as its own writer would put it.
inline std::string batch_bytes(uint64_t seq, std::string_view payload = "planted") {
  LogBatchBuilder builder(kOwner, LogSeq(seq), seq);
  builder.add(StreamId{seq, 0}, payload);
  return builder.finish(WallTime{});
}

/// Seqs of the owner's log objects that lie in the store now.
inline std::vector<uint64_t> seqs_of_log(sim::TestWorld& world) {
  std::vector<uint64_t> seqs;
  for (const std::string& key : world.store().keys(keys::log_folder(kOwner))) {
    seqs.push_back(keys::log_seq(key)->value);
  }
  return seqs;
}

inline LogObject object_at(sim::TestWorld& world, uint64_t seq) {
  return decode_log_object(*world.store().peek(log_key(seq))).value();
}

/// Runs `body` with an owner's log writer in the world's process, and closes the log after it.
inline void with_log(sim::TestWorld& world, const LogConfig& config,
                     const std::function<void(const Env&, LogWriter&)>& body) {
  world.run([&](const Env& env) {
    Scope scope(env.domain);
    LogWriter log(env, config, kOwner, scope);
    body(env, log);
    scope.close();
  });
}

/// Of a PUT to the owner's log: its seq; nullopt for any other request.
inline std::optional<uint64_t> put_seq(const sim::StoreRequest& request) {
  if (request.call != sim::StoreCall::kPut) return std::nullopt;
  if (!request.key.starts_with(keys::log_folder(kOwner))) return std::nullopt;
  return keys::log_seq(request.key)->value;
}

}  // namespace morula::log_test
