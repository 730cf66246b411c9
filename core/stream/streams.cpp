#include "core/stream/streams.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"
#include "core/stream/content_type.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

Streams::Streams(const Env& env, ShardRows& rows, const StreamLimits& limits)
    : impl_(std::make_unique<Impl>(env, rows, limits)) {}
Streams::~Streams() = default;

CreateOutcome Streams::create(const CreateRequest& request) {
  return impl_->create(request);
}
AppendOutcome Streams::append(const AppendRequest& request) {
  return impl_->append(request);
}
ReadOutcome Streams::read(const ReadRequest& request) {
  return impl_->read(request);
}
HeadOutcome Streams::head(const StreamHash& stream) {
  return impl_->head(stream);
}
RemoveOutcome Streams::remove(const RemoveRequest& request) {
  return impl_->remove(request);
}
ListOutcome Streams::list(const ListRequest& request) {
  return impl_->list(request);
}
void Streams::forget(Prefix space) {
  impl_->cache.forget(space);
}
size_t Streams::cached() const {
  return impl_->cache.size();
}

Result<> Streams::Impl::check_served(StreamId id, const StreamState& state) const {
  if (!state.gone && rows.serves(id)) return {};
  env.trace.sometimes("a stream's shard went while it was asked", true);
  return fail(ErrorCode::kMoved, "the stream's shard is not served here any more");
}

Result<> Streams::Impl::load(StreamId id, StreamState& state) {
  if (!state.loaded) {
    auto loaded = load_newest(id, state);
    // What was read of two owners may not fit together.
    if (!loaded && check_served(id, state)) return loaded;
  }
  return check_served(id, state);
}

Result<> Streams::Impl::load_newest(StreamId id, StreamState& state) {
  auto row = rows.find_hot(id);
  MORULA_TRY(row);
  std::optional<StreamCreation> newest;
  if (*row) {
    const auto key = row_key::parse(Tree::kMeta, (*row)->key);
    MORULA_TRY(key);
    auto hot = decode_hot((*row)->value);
    MORULA_TRY(hot);
    newest.emplace();
    newest->generation = key->generation;
    newest->change = (*row)->change;
    newest->deleted = (*row)->deleted;
    newest->hot = *hot;
    newest->deadline = hot->deadline;
    if (!is_over(*newest, rows.wall())) MORULA_TRY(load_descriptor(id, *newest));
  }
  state.newest = std::move(newest);
  state.loaded = true;
  return {};
}

Result<> Streams::Impl::load_descriptor(StreamId id, StreamCreation& creation) {
  const char* content_type = content_type_of(creation.hot.content_type_code);
  if (content_type != nullptr && creation.hot.expiry_kind == Expiry::Kind::kNone) {
    creation.content_type = content_type;
    return {};
  }
  auto row = rows.find(row_key::meta(id, creation.generation, RowKind::kDescriptor));
  MORULA_TRY(row);
  if (!*row) {
    if (is_over(creation, rows.wall())) return {};
    return fail(ErrorCode::kCorrupt, "a stream has a hot row but no descriptor row");
  }
  auto descriptor = decode_descriptor((*row)->value);
  MORULA_TRY(descriptor);
  creation.content_type = std::move(descriptor->content_type);
  creation.expiry = std::move(descriptor->expiry);
  return {};
}

Result<StreamStatePtr> Streams::Impl::open(StreamId id) {
  StreamStatePtr state = cache.get(id);
  if (!state->loaded) {
    MutexLock lock(state->mutex);
    MORULA_TRY(load(id, *state));
  }
  return state;
}

bool Streams::Impl::is_over(const StreamCreation& creation, WallTime now) {
  return creation.deleted || (creation.deadline && *creation.deadline <= now);
}

bool Streams::Impl::exists(const StreamState& state, WallTime now) {
  return state.newest && !is_over(*state.newest, now);
}

std::optional<Refused> Streams::Impl::refuse_absent(const StreamHash& stream,
                                                    const StreamState& state, WallTime now) const {
  if (!exists(state, now)) {
    return refused(Refusal::kAbsent, "there is no such stream; PUT creates it");
  }
  if (state.newest->hot.check != stream.check) {
    env.trace.log(Severity::kError, "stream_id_collision", {{"stream", stream.id.text()}});
    return refused(Refusal::kCollision, "another stream has this one's id; choose another path");
  }
  return std::nullopt;
}

StreamInfo Streams::Impl::describe(StreamId id, const StreamCreation& creation,
                                   WallTime now) const {
  StreamInfo info;
  info.id = id;
  info.generation = creation.generation;
  info.tail = creation.hot.tail;
  info.content_type = creation.content_type;
  info.json = creation.hot.json;
  info.expiry = creation.expiry;
  // A deadline that was read from its row may lie more than a TTL ahead.
  const auto furthest = creation.expiry.deadline(now);
  if (creation.deadline && furthest) {
    const WallTime deadline = std::min(*creation.deadline, *furthest);
    info.remaining_ms =
        now < deadline ? static_cast<uint64_t>(deadline.ms) - static_cast<uint64_t>(now.ms) : 0;
  }
  return info;
}

void Streams::Impl::begin_change(StreamCreation& creation) {
  creation.change = creation.change + 1;
  changed.set_change(creation.change);
}

LogSeq Streams::Impl::apply_changed(StreamId id, StreamState& state) {
  MORULA_CHECK(state.mutex.locked() && state.loaded && state.newest);
  const StreamCreation& creation = *state.newest;
  const ShortKey key = ShortKey::meta(id, creation.generation, RowKind::kHot);
  encode_hot(creation.hot, changed.add(Tree::kMeta, key, creation.deleted));
  const LogSeq position = rows.apply(id, changed);
  changed.clear();
  state.position = position;
  return position;
}

Result<> Streams::Impl::confirm(std::optional<LogSeq> reflects, ShardRows::Wrote wrote) {
  MORULA_TRY(rows.confirm(reflects, wrote));
  if (reflects) cache.acknowledged(*reflects);
  return {};
}

Unserved Streams::Impl::unserved(StreamId id, const StreamState& state, Error error) const {
  if (auto served = check_served(id, state); !served) error = std::move(served).error();
  return unserved(id, std::move(error));
}

Unserved Streams::Impl::unserved(StreamId id, Error error) const {
  if (error.code == ErrorCode::kCorrupt) {
    env.trace.log(Severity::kError, "stream_damaged",
                  {{"stream", id.text()}, {"error", error.message}});
  }
  return Unserved{std::move(error)};
}

}  // namespace morula
