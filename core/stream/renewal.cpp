// How a stream with a deadline is kept alive, and how it ends.
//
// It has two deadlines. The durable one is in its hot row. The one in memory, which counts as long
// as the stream's state is in memory, is a TTL after the last renewal. The rules:
//
//   A. The deadline in memory is not after the durable one. A renewal that would break this is
//      written, an eighth of the TTL ahead, and answered when that is acknowledged; one that
//      doesn't stays in memory. So a stream that was answered is never gone before a whole TTL is
//      over, whoever owns it then; when memory was lost in between, at most an eighth of a TTL
//      later. An append writes the hot row anyway, and moves both.
//   B. Nothing renews a stream whose deadline in memory is over, and "gone" is answered only when
//      no later owner, and no later state of this one, can think otherwise: when the durable
//      deadline lies at or below the time that every later owner begins with
//      (`ShardRows::durable_wall`). Otherwise the end is written first: a hot row whose deadline is
//      the one in memory, in a batch that carries a time not below it. (why: at its end in memory
//      a stream may have an eighth left in its row; and a taker's wall clock may be behind that of
//      the owner that said "gone".)
//
// A stream with `Stream-Expires-At` has one deadline, which no request moves; B holds for it, too.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

namespace {

bool slides(const StreamCreation& creation) {
  return creation.expiry.kind == Expiry::Kind::kTtl;
}

/// False: the durable deadline does not reach so far.
bool extend_in_memory(StreamCreation& creation, WallTime now) {
  const auto deadline = creation.expiry.deadline(now);
  if (*deadline > *creation.hot.deadline && !mutated(Mutant::ttl_renewal_not_ahead)) return false;
  creation.deadline = std::max(creation.deadline, deadline);
  return true;
}

}  // namespace

void extend_deadline(StreamCreation& creation, WallTime now) {
  if (!slides(creation)) return;
  creation.deadline = creation.expiry.deadline(now);
  if (mutated(Mutant::ttl_renewal_not_ahead)) return;
  creation.hot.deadline = creation.expiry.deadline_ahead(now);
}

Result<WallTime> Streams::Impl::settle(const StreamHash& stream, StreamState& state,
                                       Access access) {
  MORULA_TRY(check_served(stream.id, state));
  const WallTime now = rows.wall();
  if (settle_in_memory(stream, state, now, access)) return now;
  const auto room = rows.wait_for_room(stream.id, 0, ShardRows::Change::kEnds);
  MORULA_TRY(room);
  MutexLock lock(state.mutex);
  MORULA_TRY(check_served(stream.id, state));
  return settle_held(stream, state, access);
}

WallTime Streams::Impl::settle_held(const StreamHash& stream, StreamState& state, Access access) {
  const WallTime now = rows.wall();
  if (settle_in_memory(stream, state, now, access)) return now;
  if (exists(state, now)) {
    renew_held(stream.id, state, now);
    return now;
  }
  StreamCreation& creation = *state.newest;
  begin_change(creation);
  creation.hot.deadline = creation.deadline;
  creation.end_is_written = true;
  apply_changed(stream.id, state);
  env.trace.sometimes("the end of a stream was written down", true);
  return now;
}

/// Nothing has to be written before `stream` is answered as of `now`. What can be renewed in memory
/// is renewed.
bool Streams::Impl::settle_in_memory(const StreamHash& stream, StreamState& state, WallTime now,
                                     Access access) const {
  if (!state.newest || state.newest->deleted || !state.newest->deadline) return true;
  StreamCreation& creation = *state.newest;
  if (!exists(state, now)) {
    return creation.end_is_written || *creation.hot.deadline <= rows.durable_wall(stream.id) ||
           mutated(Mutant::end_not_written);
  }
  const bool is_its_own = creation.hot.check == stream.check;
  if (access == Access::kLooks || !slides(creation) || !is_its_own) return true;
  const bool in_memory = extend_in_memory(creation, now);
  env.trace.sometimes("a renewal stayed in memory", in_memory);
  return in_memory;
}

void Streams::Impl::renew_held(StreamId id, StreamState& state, WallTime now) {
  MORULA_CHECK(exists(state, now), "what is gone stays gone");
  StreamCreation& creation = *state.newest;
  if (!slides(creation) || extend_in_memory(creation, now)) return;
  begin_change(creation);
  extend_deadline(creation, now);
  apply_changed(id, state);
  env.trace.sometimes("a renewal was written", true);
}

}  // namespace morula
