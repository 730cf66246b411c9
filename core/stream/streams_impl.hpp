// The inside of core/stream/streams.hpp; its operations are in create.cpp, append.cpp, read.cpp
// and list.cpp, what keeps a stream alive or lets it end in renewal.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/mutant.hpp"
#include "core/rt/trace.hpp"
#include "core/stream/json_messages.hpp"
#include "core/stream/stream_cache.hpp"
#include "core/stream/streams.hpp"

namespace morula {

struct AcceptedAppend {
  std::optional<JsonMessages> json;  // nullopt: the body is one message
  WallTime at;                       // the moment: the stream was there
};
/// What an append is to its stream at one moment. `Appended`: a duplicate.
using AppendVerdict = std::variant<Refused, Appended, AcceptedAppend>;

struct Streams::Impl {
  Impl(const Env& e, ShardRows& r, const StreamLimits& l)
      : env(e), rows(r), limits(l), cache(l.cached_streams_max) {}

  CreateOutcome create(const CreateRequest& request);
  AppendOutcome append(const AppendRequest& request);
  ReadOutcome read(const ReadRequest& request);
  HeadOutcome head(const StreamHash& stream);
  RemoveOutcome remove(const RemoveRequest& request);
  ListOutcome list(const ListRequest& request);

  /// Whether anything may be computed from `state` until the next suspension. kMoved.
  Result<> check_served(StreamId id, const StreamState& state) const;
  /// Reads the newest creation from its rows unless it is loaded; `check_served` is fine then. The
  /// caller holds the mutex.
  Result<> load(StreamId id, StreamState& state);
  Result<> load_newest(StreamId id, StreamState& state);
  Result<> load_descriptor(StreamId id, StreamCreation& creation);
  /// The loaded state of a stream that is only looked at. The caller has to `settle` it.
  Result<StreamStatePtr> open(StreamId id);

  // An answer is computed as of one moment, `now`: time may pass between two looks at the clock.

  /// Why nothing can be said of `state` to somebody who asks for `stream`: it is absent, or another
  /// path's. nullopt: it is there.
  std::optional<Refused> refuse_absent(const StreamHash& stream, const StreamState& state,
                                       WallTime now) const;
  /// The caller knows that `creation` is not deleted.
  StreamInfo describe(StreamId id, const StreamCreation& creation, WallTime now) const;
  static bool exists(const StreamState& state, WallTime now);
  /// Deleted or expired: a compaction may have left no row of it but the hot one, or not even that.
  static bool is_over(const StreamCreation& creation, WallTime now);

  // renewal.cpp
  enum class Access : uint8_t { kLooks, kRenews };
  /// Renews the stream, or sees to it that its end is known for good. Returns the moment as of
  /// which the answer can be computed, without suspension: it then has to wait for
  /// `state.position`. Suspends when something has to be written. Does `check_served`.
  Result<WallTime> settle(const StreamHash& stream, StreamState& state, Access access);
  /// The same for who holds the mutex, has room and has done `check_served`. Never suspends.
  WallTime settle_held(const StreamHash& stream, StreamState& state, Access access);
  /// The caller holds the mutex; the stream exists at `now`.
  void renew_held(StreamId id, StreamState& state, WallTime now);
  bool settle_in_memory(const StreamHash& stream, StreamState& state, WallTime now,
                        Access access) const;

  // list.cpp
  struct ListedRow;
  /// Whether the stream that the row lists is there, as of a moment during the call.
  Result<bool> is_there(const ListedRow& row);
  Result<> scan_listed(const ListRequest& request, std::vector<ListedRow>& rows_found,
                       std::optional<std::string>& next);

  Refused refuse_too_large() const;
  /// Fills in all but `info` and `start`. False: `start` is not between two messages.
  Result<bool> read_messages(ReadAnswer& given);

  Result<AppendVerdict> judge(const AppendRequest& request, std::string_view media,
                              StreamState& state);
  Result<std::optional<ProducerRow>> find_producer(StreamId id, StreamCreation& creation,
                                                   std::string_view producer);
  Result<> load_sequence(StreamId id, StreamCreation& creation);
  std::optional<Refused> refuse_conditions(const AppendRequest& request,
                                           const StreamCreation& creation) const;

  // A change: `state.newest` is what the stream is to be; then its rows are applied. The caller
  // holds the mutex and has done `check_served`, and nothing of it suspends.
  Appended apply(const AppendRequest& request, const AcceptedAppend& accepted, StreamState& state);
  /// Raises the change number.
  void begin_change(StreamCreation& creation);
  /// Moves the tail behind `messages` and adds the row that holds them to `changed`.
  void append_messages(StreamId id, StreamCreation& creation, const Messages& messages);
  /// Applies `changed` together with the hot row.
  LogSeq apply_changed(StreamId id, StreamState& state);

  /// Gives `answer`, which `state` has shown, once `reflects` is acknowledged, if the lease holds
  /// and the stream is still served here.
  template <class Outcome, class Answer>
  Outcome answer(Answer&& given, StreamId id, const StreamState& state,
                 std::optional<LogSeq> reflects) {
    using Given = std::decay_t<Answer>;
    constexpr bool kReads = std::is_same_v<Given, ReadAnswer> || std::is_same_v<Given, StreamInfo>;
    constexpr bool kRefuses = std::is_same_v<Given, Refused>;
    if (kReads && mutated(Mutant::read_before_durable)) reflects = std::nullopt;
    if (kRefuses && mutated(Mutant::refusal_before_durable)) reflects = std::nullopt;
    if (auto confirmed = confirm(reflects, ShardRows::Wrote::kNo); !confirmed) {
      return Unserved{std::move(confirmed).error()};
    }
    if (auto served = check_served(id, state); !served) return Unserved{std::move(served).error()};
    return std::forward<Answer>(given);
  }
  /// Gives `answer` once the change at `position`, which it is about, is acknowledged.
  template <class Outcome, class Answer>
  Outcome answer_change(Answer&& given, LogSeq position) {
    if (auto confirmed = confirm(position, ShardRows::Wrote::kYes); !confirmed) {
      return OutcomeUnknown{std::move(confirmed).error()};
    }
    return std::forward<Answer>(given);
  }
  Result<> confirm(std::optional<LogSeq> reflects, ShardRows::Wrote wrote);
  Unserved unserved(StreamId id, Error error) const;
  /// The same: kMoved if that is why.
  Unserved unserved(StreamId id, const StreamState& state, Error error) const;

  const Env env;
  ShardRows& rows;
  const StreamLimits limits;
  StreamCache cache;
  ChangedRows changed;  // by the change that is being applied; empty otherwise
};

/// Moves both deadlines of a stream with a TTL; the hot row is to be written.
void extend_deadline(StreamCreation& creation, WallTime now);

/// A refusal that shows nothing but why.
inline Refused refused(Refusal why, std::string message) {
  Refused refusal{why, std::move(message), std::nullopt};
  return refusal;
}

}  // namespace morula
