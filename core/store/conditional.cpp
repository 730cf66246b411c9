#include "core/store/conditional.hpp"

#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

// Damage that the store has found in this many reads in a row is in the object, not on the way.
constexpr int kDamagedReadsMax = 3;
constexpr size_t kPageObjects = 1000;

/// True when a request without effect (a read, a list, a refused put) is worth another attempt.
bool passes(ErrorCode code) {
  return outcome_unknown(code) || code == ErrorCode::kThrottled || code == ErrorCode::kBusy;
}

ConditionalOutcome outcome_of(bool landed, std::optional<StoredObject> lies_there) {
  if (!lies_there) return {.landed = landed, .etag = {}, .body = nullptr};
  return {
      .landed = landed, .etag = std::move(lies_there->etag), .body = std::move(lies_there->body)};
}

/// What a failed condition was about: own content, or what two reads in a row agree on.
Result<ConditionalOutcome> read_back(const Env& env, std::string_view key, const std::string& own,
                                     Purpose purpose, const RetryConfig& retry) {
  Blob last;
  for (;;) {
    auto found = get_object(env, key, purpose, retry);
    if (!found) return fail(std::move(found).error());
    if (!*found) return outcome_of(false, std::nullopt);
    const std::string& bytes = *(*found)->body;
    if (bytes == own) return outcome_of(true, std::move(*found));
    if (last && *last == bytes) return outcome_of(false, std::move(*found));
    env.trace.sometimes("two reads of a foreign object differed", last != nullptr);
    last = (*found)->body;
  }
}

/// An answer that settles the put; nullopt: repeat the identical request.
using Settled = std::optional<Result<ConditionalOutcome>>;

/// One conditional put, repeated until its outcome is known.
class ConditionalPut {
 public:
  ConditionalPut(const Env& env, std::string_view key, Blob body, Precondition condition,
                 Purpose purpose, const RetryConfig& retry,
                 const std::function<void(const Error&)>& repeated)
      : env_(env),
        key_(key),
        body_(std::move(body)),
        condition_(std::move(condition)),
        purpose_(purpose),
        retry_(retry),
        repeated_(repeated),
        backoff_(env, retry, key_) {
    MORULA_CHECK(body_ != nullptr);
  }

  Result<ConditionalOutcome> run() {
    for (;;) {
      const Time sent = env_.clock.now();
      auto answer = env_.store.put(key_, body_, condition_, backoff_.attempt(purpose_));
      if (answer) {
        env_.trace.sometimes("a put landed after an attempt with an unknown outcome", unresolved_);
        return ConditionalOutcome{true, std::move(*answer), body_, sent};
      }
      if (auto settled = settle(answer.error())) {
        if (*settled) (*settled)->last_sent = sent;
        return std::move(*settled);
      }
      if (repeated_) repeated_(answer.error());
      backoff_.pause(answer.error());
    }
  }

 private:
  bool swaps() const { return condition_.kind == Precondition::Kind::kIfMatch; }
  bool shows_base(const ConditionalOutcome& found) const {
    return swaps() && !found.landed && found.body && found.etag == condition_.etag;
  }

  Settled settle(const Error& error) {
    if (error.code == ErrorCode::kPreconditionFailed) return settle_failed_condition();
    // If-match on an absent key: no attempt on this base can land any more.
    if (error.code == ErrorCode::kNotFound && swaps()) return outcome_of(false, std::nullopt);
    if (outcome_unknown(error.code)) {
      unresolved_ = true;
      if (mutated(Mutant::unknown_is_failure)) return outcome_of(false, std::nullopt);
      return error.code == ErrorCode::kTimeout ? std::nullopt : settle_by_reading();
    }
    if (passes(error.code)) return std::nullopt;
    env_.trace.sometimes("a put was refused after an attempt with an unknown outcome", unresolved_);
    // That attempt may still land: this refusal says nothing about it.
    if (unresolved_) return std::nullopt;
    return fail(error);
  }

  /// Some stores tell the loser of a race an error that leaves all open, however often it asks. So
  /// look: own content has landed; foreign content where nothing or the base was settles it too.
  /// What is as it was before settles nothing.
  Settled settle_by_reading() {
    auto outcome = read_back(env_, key_, *body_, purpose_, retry_);
    if (!outcome || (!outcome->body && !swaps())) return std::nullopt;
    if (shows_base(*outcome)) return std::nullopt;
    env_.trace.sometimes("an error hid that a put had landed", outcome->landed);
    env_.trace.sometimes("an error hid that a put was lost", !outcome->landed);
    return std::move(*outcome);
  }

  Settled settle_failed_condition() {
    if (purpose_ == Purpose::kLog) {
      if (mutated(Mutant::own_412_is_fence)) return outcome_of(false, std::nullopt);
      if (mutated(Mutant::other_412_is_success)) return outcome_of(true, StoredObject{body_, {}});
    }
    auto outcome = read_back(env_, key_, *body_, purpose_, retry_);
    if (!outcome) {
      // Unreadable for now or for good: either way, whose object it is isn't known.
      unresolved_ = true;
      return std::nullopt;
    }
    env_.trace.sometimes("a failed condition was about our own object", outcome->landed);
    // The store says that the base has passed, and shows it: it will make up its mind.
    if (shows_base(*outcome)) return std::nullopt;
    return std::move(*outcome);
  }

  const Env& env_;
  std::string key_;
  Blob body_;
  Precondition condition_;
  Purpose purpose_;
  RetryConfig retry_;
  const std::function<void(const Error&)>& repeated_;
  Backoff backoff_;
  bool unresolved_ = false;  // an attempt of this call may have landed, or may still land
};

/// kCorrupt when the page is out of order, strays from the prefix, or does not get ahead.
Result<> check_page(const Listing& page, std::string_view prefix, std::string_view start_after) {
  std::string_view last = start_after;
  for (const ObjectInfo& object : page.objects) {
    if (object.key <= last || !object.key.starts_with(prefix)) {
      return fail(ErrorCode::kCorrupt, "the listing of " + std::string(prefix) + " after " +
                                           std::string(last) + " shows " + object.key +
                                           ": the store does not list in order");
    }
    last = object.key;
  }
  if (page.truncated && page.objects.empty()) {
    return fail(ErrorCode::kCorrupt, "the listing of " + std::string(prefix) + " after " +
                                         std::string(start_after) +
                                         " is truncated but shows nothing");
  }
  return {};
}

/// One page that passes `check_page`, repeated until answered.
Result<Listing> list_page(const Env& env, std::string_view prefix, std::string_view start_after,
                          Purpose purpose, const RetryConfig& retry) {
  Backoff backoff(env, retry, prefix);
  for (int damaged = 0;;) {
    auto page = env.store.list(prefix, start_after, kPageObjects, backoff.attempt(purpose));
    Error error{ErrorCode::kUnavailable, {}};
    if (page) {
      auto checked = check_page(*page, prefix, start_after);
      if (checked) return page;
      error = std::move(checked).error();
    } else {
      error = std::move(page).error();
    }
    if (error.code == ErrorCode::kCorrupt) {
      if (++damaged == kDamagedReadsMax) return fail(std::move(error));
    } else if (!passes(error.code)) {
      return fail(std::move(error));
    }
    backoff.pause(error);
  }
}

}  // namespace

Result<ConditionalOutcome> create_object(const Env& env, std::string_view key, Blob body,
                                         Purpose purpose, const RetryConfig& retry,
                                         const std::function<void(const Error&)>& repeated) {
  return ConditionalPut(env, key, std::move(body), Precondition::if_absent(), purpose, retry,
                        repeated)
      .run();
}

Result<ConditionalOutcome> swap_object(const Env& env, std::string_view key, Blob body,
                                       const Etag& base, Purpose purpose,
                                       const RetryConfig& retry) {
  return ConditionalPut(env, key, std::move(body), Precondition::if_match(base), purpose, retry, {})
      .run();
}

Result<std::optional<StoredObject>> get_object(const Env& env, std::string_view key,
                                               Purpose purpose, const RetryConfig& retry) {
  Backoff backoff(env, retry, key);
  for (int damaged = 0;;) {
    auto found = env.store.get(key, std::nullopt, backoff.attempt(purpose));
    if (found) return std::move(*found);
    const Error& error = found.error();
    if (error.code == ErrorCode::kNotFound) return std::nullopt;
    if (error.code == ErrorCode::kCorrupt) {
      if (++damaged == kDamagedReadsMax) return fail(error);
    } else if (!passes(error.code)) {
      return fail(error);
    }
    backoff.pause(error);
  }
}

Result<> for_each_object(const Env& env, std::string_view prefix, std::string_view start_after,
                         Purpose purpose, const RetryConfig& retry,
                         const std::function<Result<>(const ObjectInfo&)>& each) {
  std::string after(start_after);
  for (;;) {
    auto page = list_page(env, prefix, after, purpose, retry);
    if (!page) return fail(std::move(page).error());
    for (const ObjectInfo& object : page->objects) MORULA_TRY(each(object));
    if (!page->truncated) return {};
    after = std::move(page->objects.back().key);
  }
}

Result<std::vector<ObjectInfo>> list_objects(const Env& env, std::string_view prefix,
                                             std::string_view start_after, Purpose purpose,
                                             const RetryConfig& retry) {
  std::vector<ObjectInfo> objects;
  MORULA_TRY(for_each_object(env, prefix, start_after, purpose, retry,
                             [&](const ObjectInfo& object) -> Result<> {
                               objects.push_back(object);
                               return {};
                             }));
  return objects;
}

}  // namespace morula
