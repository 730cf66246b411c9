// Appending.
#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/stream/content_type.hpp"
#include "core/stream/json_messages.hpp"
#include "core/stream/offset.hpp"
#include "core/stream/producer.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

namespace {

Refused refuse_producer(ProducerVerdict verdict, const ProducerClaim& claim,
                        const std::optional<ProducerRow>& known) {
  Refused refusal = refused(Refusal::kSequenceGap, {});
  switch (verdict) {
    case ProducerVerdict::kStaleEpoch:
      refusal.why = Refusal::kStaleEpoch;
      refusal.producer_epoch = known->epoch;
      refusal.message =
          "a later epoch of this producer has written: " + std::to_string(known->epoch) +
          "; it must stop, or claim a higher one";
      break;
    case ProducerVerdict::kEpochNotAtZero:
      refusal.why = Refusal::kEpochNotAtZero;
      refusal.message = "a new epoch of a producer begins with Producer-Seq 0";
      break;
    case ProducerVerdict::kSequenceGap:
      refusal.expected_seq = known ? known->seq + 1 : 0;
      refusal.message = "appends of this producer are missing: Producer-Seq " +
                        std::to_string(refusal.expected_seq) + " is next, not " +
                        std::to_string(claim.seq);
      break;
    case ProducerVerdict::kNew:
    case ProducerVerdict::kDuplicate:
      MORULA_CHECK(false, "not a refusal");
  }
  return refusal;
}

}  // namespace

Refused Streams::Impl::refuse_too_large() const {
  return refused(Refusal::kTooLarge, "the body is larger than " +
                                         std::to_string(limits.append_bytes_max) +
                                         " bytes; send it in several appends");
}

void Streams::Impl::append_messages(StreamId id, StreamCreation& creation,
                                    const Messages& messages) {
  const Offset start = creation.hot.tail;
  creation.hot.tail.messages += messages.count;
  creation.hot.tail.bytes += messages.bytes.size();
  const ShortKey key = ShortKey::data(id, creation.generation, creation.hot.tail);
  encode_data(start, messages, changed.add(Tree::kData, key));
}

Result<std::optional<ProducerRow>> Streams::Impl::find_producer(StreamId id,
                                                                StreamCreation& creation,
                                                                std::string_view producer) {
  if (const ProducerRow* known = creation.producers.find(producer)) return *known;
  auto row = rows.find(row_key::meta(id, creation.generation, RowKind::kProducer, producer));
  MORULA_TRY(row);
  if (!*row) return std::nullopt;
  auto known = decode_producer((*row)->value);
  MORULA_TRY(known);
  creation.producers.put(producer, *known, limits.cached_producers_max);
  return *known;
}

Result<> Streams::Impl::load_sequence(StreamId id, StreamCreation& creation) {
  if (!creation.hot.has_sequence || creation.sequence) return {};
  auto row = rows.find(row_key::meta(id, creation.generation, RowKind::kSequence));
  MORULA_TRY(row);
  if (!*row) {
    if (is_over(creation, rows.wall())) return {};
    return fail(ErrorCode::kCorrupt, "a stream's sequence row is missing");
  }
  auto last = decode_sequence((*row)->value);
  MORULA_TRY(last);
  creation.sequence = std::move(*last);
  return {};
}

std::optional<Refused> Streams::Impl::refuse_conditions(const AppendRequest& request,
                                                        const StreamCreation& creation) const {
  if (request.sequence && creation.sequence && *request.sequence <= *creation.sequence) {
    Refused refusal =
        refused(Refusal::kSequenceRegression,
                "Stream-Seq is not above the last one, which was " + *creation.sequence);
    refusal.tail = creation.hot.tail;
    return refusal;
  }
  if (request.expected_offset && *request.expected_offset != creation.hot.tail) {
    Refused refusal =
        refused(Refusal::kOffsetMismatch, "the stream's tail is " + offset_text(creation.hot.tail) +
                                              ", not the expected offset");
    refusal.tail = creation.hot.tail;
    return refusal;
  }
  return std::nullopt;
}

Result<AppendVerdict> Streams::Impl::judge(const AppendRequest& request, std::string_view media,
                                           StreamState& state) {
  if (auto refusal = refuse_absent(request.stream, state, rows.wall())) return *refusal;
  StreamCreation& creation = *state.newest;
  const auto stream_media = media_type(creation.content_type, limits.content_type_bytes_max);
  if (!stream_media || !same_media(*stream_media, media)) {
    return refused(Refusal::kContentTypeMismatch,
                   "the stream's content type is " + creation.content_type);
  }
  AcceptedAppend accepted;
  if (creation.hot.json) {
    auto split = split_json_messages(request.body);
    if (!split) return refused(Refusal::kInvalidJson, split.error().message);
    if (split->count == 0) {
      return refused(Refusal::kInvalidJson, "an empty array appends nothing");
    }
    accepted.json = std::move(*split);
  }
  if (request.producer) {
    const ProducerClaim& claim = *request.producer;
    const auto known = find_producer(request.stream.id, creation, claim.id);
    MORULA_TRY(known);
    // That may have taken a while: a stream that has expired meanwhile has lost such rows, too.
    MORULA_TRY(check_served(request.stream.id, state));
    const WallTime now = rows.wall();
    if (auto refusal = refuse_absent(request.stream, state, now)) return *refusal;
    const ProducerVerdict verdict = judge_producer(*known, claim.epoch, claim.seq);
    if (verdict == ProducerVerdict::kDuplicate) {
      renew_held(request.stream.id, state, now);
      return Appended{(*known)->tail, true, (*known)->epoch, (*known)->seq, creation.generation};
    }
    if (verdict != ProducerVerdict::kNew) return refuse_producer(verdict, claim, *known);
  }
  if (request.sequence) MORULA_TRY(load_sequence(request.stream.id, creation));
  MORULA_TRY(check_served(request.stream.id, state));
  accepted.at = rows.wall();
  if (auto refusal = refuse_absent(request.stream, state, accepted.at)) return *refusal;
  if (auto refusal = refuse_conditions(request, creation)) return *refusal;
  return accepted;
}

Appended Streams::Impl::apply(const AppendRequest& request, const AcceptedAppend& accepted,
                              StreamState& state) {
  const StreamId id = request.stream.id;
  StreamCreation& creation = *state.newest;
  const auto add_meta_row = [&](RowKind kind, std::string_view suffix) -> std::string& {
    return changed.add(Tree::kMeta, row_key::meta(id, creation.generation, kind, suffix));
  };
  begin_change(creation);
  append_messages(id, creation,
                  accepted.json ? accepted.json->view() : Messages{request.body, {}, uint64_t{1}});
  Appended appended;
  appended.tail = creation.hot.tail;
  appended.generation = creation.generation;
  if (request.producer) {
    const ProducerRow row{request.producer->epoch, request.producer->seq, creation.hot.tail};
    creation.producers.put(request.producer->id, row, limits.cached_producers_max);
    encode_producer(row, add_meta_row(RowKind::kProducer, request.producer->id));
    appended.producer_epoch = row.epoch;
    appended.producer_seq = row.seq;
  }
  if (request.sequence) {
    creation.sequence = std::string(*request.sequence);
    creation.hot.has_sequence = true;
    encode_sequence(*request.sequence, add_meta_row(RowKind::kSequence, {}));
  }
  extend_deadline(creation, accepted.at);
  apply_changed(id, state);
  return appended;
}

AppendOutcome Streams::Impl::append(const AppendRequest& request) {
  const StreamId id = request.stream.id;
  const auto media = media_type(request.content_type, limits.content_type_bytes_max);
  if (!media) return refused(Refusal::kInvalidContentType, media.error().message);
  if (request.body.empty()) {
    return refused(Refusal::kEmptyAppend, "an append needs a body of at least one byte");
  }
  if (request.body.size() > limits.append_bytes_max) return refuse_too_large();
  auto room = rows.wait_for_room(id, request.body.size(), ShardRows::Change::kAppends);
  if (!room) return unserved(id, std::move(room).error());

  const StreamStatePtr state = cache.get(id);
  env.trace.sometimes("an append waited for another one's validation", state->mutex.locked());
  MutexLock lock(state->mutex);
  if (auto loaded = load(id, *state); !loaded) return unserved(id, std::move(loaded).error());
  auto verdict = judge(request, *media, *state);
  if (!verdict) return unserved(id, *state, std::move(verdict).error());
  env.trace.sometimes("an append was a duplicate", std::holds_alternative<Appended>(*verdict));
  if (const auto* accepted = std::get_if<AcceptedAppend>(&*verdict)) {
    *room = {};  // now it is taken, and counted as what it is
    const Appended appended = apply(request, *accepted, *state);
    const LogSeq position = *state->position;
    lock.unlock();
    return answer_change<AppendOutcome>(appended, position);
  }
  settle_held(request.stream, *state, Access::kLooks);
  auto position = state->position;
  lock.unlock();
  if (auto* refusal = std::get_if<Refused>(&*verdict)) {
    return answer<AppendOutcome>(std::move(*refusal), id, *state, position);
  }
  if (mutated(Mutant::duplicate_before_durable)) position = std::nullopt;
  return answer<AppendOutcome>(std::get<Appended>(*verdict), id, *state, position);
}

}  // namespace morula
