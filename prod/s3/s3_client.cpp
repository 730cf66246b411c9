#include "prod/s3/s3_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace morula {
namespace {

// A single request may get lost; so many in a row are told.
constexpr int kUnansweredMax = 3;

/// A read that failed so is worth another attempt.
bool may_pass(ErrorCode code) {
  return outcome_unknown(code) || code == ErrorCode::kThrottled;
}

S3Failure without_answer(const S3Request& request, Error error) {
  // Certain for a call between instances, but a store is never "not found" for good.
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
  if (error.message.find("certificate") != std::string::npos) {
    error.message += "; trust the store's certificate by --s3-ca-file";
  }
  error.message = request.what + ": " + error.message;
  return {std::move(error), 0, {}, S3Remedy::kNone};
}

}  // namespace

S3Client::S3Client(Clock& clock, Trace& trace, CurlClient& curl, CredentialCache& credentials,
                   Random random, S3ClientConfig config)
    : clock_(clock),
      trace_(trace),
      curl_(curl),
      credentials_(credentials),
      random_(random),
      config_(std::move(config)),
      pace_(clock, config_.pace) {}

WallTime S3Client::stores_time() const {
  return WallTime{clock_.wall().ms + clock_offset_ms_};
}

S3Client::Answer S3Client::send(const S3Request& request, const RequestOptions& options) {
  // What may be carried out is waited for as long as the caller says.
  if (request.changes) return attempt(request, options, Duration::max());
  Duration silence = config_.read_silence_min;
  Duration pause = config_.repeat_pause_min;
  for (;;) {
    Answer answer = attempt(request, options, silence);
    silence = std::min(silence * 2, config_.read_silence_max);
    if (answer || !may_pass(answer.error().error.code)) return answer;
    const Error& error = answer.error().error;
    const auto ticks = static_cast<uint64_t>(pause.count());
    Duration drawn(static_cast<Duration::rep>(random_.between(ticks / 2, ticks)));
    drawn = std::max<Duration>(drawn, std::chrono::milliseconds(error.retry_after_ms));
    pause = std::min(pause * 2, config_.repeat_pause_max);
    // No time left for another: the caller decides. It has pauses of its own.
    if (options.deadline != kNever && clock_.now() + drawn >= options.deadline) return answer;
    if (!pace_.take_repeat()) return answer;
    clock_.sleep(drawn);
  }
}

S3Client::Answer S3Client::attempt(const S3Request& request, const RequestOptions& options,
                                   Duration silence) {
  const auto failed = [&](Error error) {
    return tl::unexpected(without_answer(request, std::move(error)));
  };
  // Before the slot: nobody else waits while these are fetched.
  const auto credentials = credentials_.get(options.deadline);
  if (!credentials) return failed(credentials.error());
  if (!pace_.acquire(options.purpose, options.deadline)) {
    return failed({ErrorCode::kTimeout, "too many requests are under way", 0});
  }
  struct Slot {
    S3Pace& pace;
    ~Slot() { pace.release(); }
  } const slot{pace_};

  HttpRequest signed_request = request.http;
  sign_request(signed_request, config_.endpoint.host, request.body_sha256, {config_.region, "s3"},
               *credentials, stores_time());
  auto answer =
      curl_.call(config_.endpoint.base, signed_request, *request.body, options.deadline, silence);
  if (!answer) {
    got_no_answer(answer.error());
    return failed(std::move(answer).error());
  }
  got_answer();
  if (auto failure = failure_of(request, *answer)) {
    learn(*failure, *answer, *credentials);
    return tl::unexpected(std::move(*failure));
  }
  pace_.succeeded();
  return std::move(*answer);
}

void S3Client::got_no_answer(const Error& error) {
  if (++unanswered_ == 1) unanswered_since_ = clock_.now();
  if (unanswered_ != kUnansweredMax) return;
  trace_.log(Severity::kWarning, "store_unreachable",
             {{"endpoint", config_.endpoint.base}, {"why", error.message}});
}

void S3Client::got_answer() {
  if (std::exchange(unanswered_, 0) < kUnansweredMax) return;
  const auto away =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - unanswered_since_);
  trace_.log(
      Severity::kInfo, "store_reachable",
      {{"endpoint", config_.endpoint.base}, {"away_ms", static_cast<uint64_t>(away.count())}});
}

void S3Client::learn(const S3Failure& failure, const HttpResponse& answer,
                     const Credentials& used) {
  switch (failure.remedy) {
    case S3Remedy::kNone:
      break;
    case S3Remedy::kSlowDown:
      pace_.complained();
      break;
    case S3Remedy::kRenewCredentials:
      credentials_.refused(used);
      break;
    case S3Remedy::kSetClock: {
      const auto date = answer.headers.find("Date");
      const auto stores = date ? parse_http_date(*date) : std::nullopt;
      if (stores) clock_offset_ms_ = stores->ms - clock_.wall().ms;
      break;
    }
  }
}

}  // namespace morula
