// Creating and deleting.
#include "core/stream/content_type.hpp"
#include "core/stream/json_messages.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

namespace {

/// The same media type and the same expiry.
bool same_configuration(const StreamCreation& creation, std::string_view media,
                        const Expiry& expiry, const StreamLimits& limits) {
  const auto stored = media_type(creation.content_type, limits.content_type_bytes_max);
  return stored && same_media(*stored, media) && creation.expiry.same_as(expiry);
}

StreamCreation new_creation(const CreateRequest& request, bool json, Generation generation,
                            WallTime now) {
  StreamCreation creation;
  creation.generation = generation;
  creation.content_type = request.content_type;
  creation.expiry = request.expiry;
  creation.hot.json = json;
  creation.hot.expiry_kind = request.expiry.kind;
  creation.hot.content_type_code = content_type_code(request.content_type);
  creation.hot.deadline = request.expiry.deadline_ahead(now);
  creation.deadline = request.expiry.deadline(now);
  creation.hot.check = request.stream.check;
  return creation;
}

DescriptorRow descriptor_of(const CreateRequest& request, WallTime now) {
  DescriptorRow descriptor;
  descriptor.content_type = request.content_type;
  descriptor.expiry = request.expiry;
  descriptor.created = now;
  descriptor.tenant = std::string(request.tenant);
  descriptor.path = std::string(request.path);
  return descriptor;
}

}  // namespace

CreateOutcome Streams::Impl::create(const CreateRequest& request) {
  const StreamId id = request.stream.id;
  const auto media = media_type(request.content_type, limits.content_type_bytes_max);
  if (!media) return refused(Refusal::kInvalidContentType, media.error().message);
  if (request.body.size() > limits.append_bytes_max) return refuse_too_large();
  JsonMessages json;
  Messages first{request.body, {}, request.body.empty() ? uint64_t{0} : 1};
  if (is_json_media(*media) && !request.body.empty()) {
    auto split = split_json_messages(request.body);
    if (!split) return refused(Refusal::kInvalidJson, split.error().message);
    json = std::move(*split);
    first = json.view();
  }
  auto room = rows.wait_for_room(id, request.body.size(), ShardRows::Change::kAppends);
  if (!room) return unserved(id, std::move(room).error());

  const StreamStatePtr state = cache.get(id);
  MutexLock lock(state->mutex);
  if (auto loaded = load(id, *state); !loaded) return unserved(id, std::move(loaded).error());
  const WallTime now = rows.wall();
  if (exists(*state, now)) {
    auto refusal = refuse_absent(request.stream, *state, now);
    if (!refusal && !same_configuration(*state->newest, *media, request.expiry, limits)) {
      refusal = refused(Refusal::kExists,
                        "the stream exists with another content type or another expiry");
    }
    const auto position = state->position;
    Created existing{describe(id, *state->newest, now), true};
    lock.unlock();
    if (refusal) return answer<CreateOutcome>(std::move(*refusal), id, *state, position);
    return answer<CreateOutcome>(std::move(existing), id, *state, position);
  }

  std::optional<Generation> last;
  if (state->newest) last = state->newest->generation;
  env.trace.sometimes("a deleted or expired stream was created again", last.has_value());
  StreamCreation creation =
      new_creation(request, is_json_media(*media), rows.next_generation(id, last), now);
  begin_change(creation);
  const ShortKey descriptor = ShortKey::meta(id, creation.generation, RowKind::kDescriptor);
  encode_descriptor(descriptor_of(request, now), changed.add(Tree::kMeta, descriptor));
  if (!mutated(Mutant::index_row_not_written)) {
    const std::string listing =
        row_key::listing(request.tenant, request.path, creation.generation, id);
    encode_index({request.content_type, now, creation.deadline},
                 changed.add(Tree::kIndex, listing));
  }
  if (first.count > 0) append_messages(id, creation, first);
  Created created{describe(id, creation, now)};
  state->newest = std::move(creation);
  *room = {};  // now it is taken, and counted as what it is
  const LogSeq position = apply_changed(id, *state);
  lock.unlock();
  return answer_change<CreateOutcome>(std::move(created), position);
}

RemoveOutcome Streams::Impl::remove(const RemoveRequest& request) {
  const StreamHash& stream = request.stream;
  const StreamId id = stream.id;
  auto room = rows.wait_for_room(id, 0, ShardRows::Change::kEnds);
  if (!room) return unserved(id, std::move(room).error());
  const StreamStatePtr state = cache.get(id);
  MutexLock lock(state->mutex);
  if (auto loaded = load(id, *state); !loaded) return unserved(id, std::move(loaded).error());
  const WallTime now = settle_held(stream, *state, Access::kLooks);
  if (auto refusal = refuse_absent(stream, *state, now)) {
    const auto position = state->position;
    lock.unlock();
    return answer<RemoveOutcome>(std::move(*refusal), id, *state, position);
  }
  StreamCreation tombstone;
  tombstone.generation = state->newest->generation;
  tombstone.change = state->newest->change;
  begin_change(tombstone);
  tombstone.deleted = true;
  tombstone.hot = state->newest->hot;
  const Removed removed{tombstone.generation};
  if (!mutated(Mutant::deleted_stays_listed)) {
    constexpr bool kDeleted = true;
    const std::string listing =
        row_key::listing(request.tenant, request.path, tombstone.generation, id);
    changed.add(Tree::kIndex, listing, kDeleted);
  }
  state->newest = std::move(tombstone);
  *room = {};  // now it is taken, and counted as what it is
  const LogSeq position = apply_changed(id, *state);
  lock.unlock();
  return answer_change<RemoveOutcome>(removed, position);
}

}  // namespace morula
