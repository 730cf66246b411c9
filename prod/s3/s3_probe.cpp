#include "prod/s3/s3_probe.hpp"

#include <utility>

namespace morula {
namespace {

constexpr Duration kRequestTimeout = std::chrono::seconds(10);
// A store may answer "conflict" or 500 to one that has lost; it must not go on like that.
constexpr int kTries = 4;

bool must_wait(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kThrottled;
}

class Probe {
 public:
  Probe(S3Store& store, Clock& clock, const std::string& name)
      : store_(store), clock_(clock), key_("probe/" + name), absent_("probe/" + name + "-absent") {}

  Result<> run() {
    // A put comes first: it is sent once, so that an endpoint that is down is told of at once.
    auto first = store_.put(key_, make_blob(key_ + " first"), Precondition::if_absent(), options());
    if (!first) return fail(without_conditions(std::move(first).error(), "If-None-Match"));
    auto outcome = run_with(*first);
    if (!outcome) {
      (void)store_.remove(key_, options());
      (void)store_.remove(absent_, options());
    }
    return outcome;
  }

  Result<> reads() {
    // To who may not list, an absent key is 403.
    const auto absent = store_.get(absent_, std::nullopt, options());
    if (absent) return fail(ErrorCode::kInvalid, absent_ + " exists, and nobody has made it");
    if (absent.error().code != ErrorCode::kNotFound) return fail(absent.error());
    MORULA_TRY(store_.list("probe/", "", 1, options()));
    return {};
  }

 private:
  Result<> run_with(const Etag& first) {
    MORULA_TRY(reads());
    MORULA_TRY(refuses("If-None-Match: *", Precondition::if_absent(), key_));
    auto second = learn_quoting(first);
    MORULA_TRY(second);
    MORULA_TRY(refuses("If-Match with an old ETag", Precondition::if_match(first), key_));
    MORULA_TRY(learn_absence(*second));
    MORULA_TRY(shows_what_was_put(*second));
    return removes();
  }

  RequestOptions options() const {
    return {.deadline = clock_.now() + kRequestTimeout, .purpose = Purpose::kOwnership};
  }

  static Error without_conditions(Error error, const std::string& header) {
    if (error.code == ErrorCode::kUnsupported) {
      error.message = "this store does not support " + header +
                      " on PUT, without which two owners "
                      "could both acknowledge; morula can't keep a cell in it. " +
                      error.message;
    }
    return error;
  }

  static tl::unexpected<Error> ignores(const std::string& condition) {
    return fail(ErrorCode::kUnsupported,
                "this store ignores " + condition +
                    " on PUT: two owners could both acknowledge and one of them lose what it "
                    "acknowledged. morula can't keep a cell in it; a version of the store that "
                    "honours conditional writes is needed (and a proxy on the way must pass the "
                    "header on)");
  }

  /// Proves that a put under a condition that does not hold changes nothing. How it was refused.
  Result<ErrorCode> refuses(const std::string& condition, const Precondition& precondition,
                            const std::string& key) {
    Error last{ErrorCode::kUnavailable, {}, 0};
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const auto put = store_.put(key, make_blob(key_ + " must not land"), precondition, options());
      if (put) return ignores(condition);
      last = put.error();
      if (last.code == ErrorCode::kPreconditionFailed || last.code == ErrorCode::kNotFound) {
        return last.code;
      }
      if (last.code != ErrorCode::kConflict && !must_wait(last)) {
        return fail(without_conditions(std::move(last), condition));
      }
    }
    last.message = condition + " is never refused clearly: " + last.message;
    return fail(std::move(last));
  }

  Result<Etag> learn_quoting(const Etag& etag) {
    for (const EtagQuoting quoting : {EtagQuoting::kQuoted, EtagQuoting::kUnquoted}) {
      S3Traits traits = store_.traits();
      traits.quoting = quoting;
      store_.set_traits(traits);
      auto swapped =
          store_.put(key_, make_blob(key_ + " second"), Precondition::if_match(etag), options());
      if (swapped || swapped.error().code != ErrorCode::kPreconditionFailed) {
        if (!swapped) return fail(without_conditions(std::move(swapped).error(), "If-Match"));
        return swapped;
      }
    }
    return fail(
        ErrorCode::kUnsupported,
        "this store refuses If-Match on PUT with the ETag that it gave itself; morula can't "
        "keep a cell in it");
  }

  Result<> learn_absence(const Etag& etag) {
    S3Traits traits = store_.traits();
    traits.absent_is_412 = false;
    store_.set_traits(traits);
    const auto refused =
        refuses("If-Match for an absent key", Precondition::if_match(etag), absent_);
    MORULA_TRY(refused);
    traits.absent_is_412 = *refused == ErrorCode::kPreconditionFailed;
    store_.set_traits(traits);
    return {};
  }

  Result<> shows_what_was_put(const Etag& etag) {
    const auto object = store_.get(key_, std::nullopt, options());
    MORULA_TRY(object);
    if (*object->body != key_ + " second" || object->etag != etag) {
      return fail(ErrorCode::kUnsupported, "this store does not show what was just written (" +
                                               key_ +
                                               "): morula needs one "
                                               "whose reads see every write that was answered");
    }
    const auto listed = store_.list(key_, "", 10, options());
    MORULA_TRY(listed);
    if (listed->objects.size() != 1 || listed->objects.front().key != key_) {
      return fail(ErrorCode::kUnsupported,
                  "this store's list does not show what was just written (" + key_ +
                      "): morula needs one whose lists see every write that was answered");
    }
    const auto part = store_.get(key_, ByteRange{6, 4}, options());
    MORULA_TRY(part);
    if (*part->body != object->body->substr(6, 4)) {
      return fail(ErrorCode::kUnsupported, "this store gives other bytes than a range asks for");
    }
    return {};
  }

  Result<> removes() {
    const std::string keys[] = {key_, absent_};
    auto removed = store_.remove_many(keys, options());
    if (!removed && (removed.error().code == ErrorCode::kUnsupported ||
                     removed.error().code == ErrorCode::kInvalid)) {
      S3Traits traits = store_.traits();
      traits.batch_remove = false;
      store_.set_traits(traits);
      removed = store_.remove_many(keys, options());
    }
    return removed;
  }

  S3Store& store_;
  Clock& clock_;
  const std::string key_;
  const std::string absent_;
};

}  // namespace

Result<> probe_s3_store(S3Store& store, Clock& clock, const std::string& name) {
  return Probe(store, clock, name).run();
}

Result<> probe_s3_reads(S3Store& store, Clock& clock, const std::string& name) {
  return Probe(store, clock, name).reads();
}

}  // namespace morula
