// Sends requests to the store: each attempt with a slot, credentials and a signature of its own.
//
// A request that changes something is sent once. One without effect is repeated, within its
// deadline and a budget that time refills.
#pragma once

#include <memory>
#include <string>

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/s3/credential_cache.hpp"
#include "prod/s3/s3_answer.hpp"
#include "prod/s3/s3_location.hpp"
#include "prod/s3/s3_pace.hpp"
#include "prod/s3/s3_request.hpp"
#include "prod/s3/signer.hpp"

namespace morula {

struct S3ClientConfig {
  S3Endpoint endpoint;
  std::string region;
  S3PaceConfig pace;
  // A read is tried again when the store has been silent for so long: twice as long with each
  // attempt. A large answer that is coming is never cut short.
  Duration read_silence_min = std::chrono::seconds(1);
  Duration read_silence_max = std::chrono::seconds(16);
  Duration repeat_pause_min = std::chrono::milliseconds(25);
  Duration repeat_pause_max = std::chrono::seconds(1);
};

class S3Client {
 public:
  /// All are used until this is gone.
  S3Client(Clock& clock, Trace& trace, CurlClient& curl, CredentialCache& credentials,
           Random random, S3ClientConfig config);

  /// The store's answer, if it is one of success; else what it means. Suspends; throws Cancelled.
  tl::expected<HttpResponse, S3Failure> send(const S3Request& request,
                                             const RequestOptions& options);

  const S3Endpoint& endpoint() const { return config_.endpoint; }

 private:
  using Answer = tl::expected<HttpResponse, S3Failure>;
  Answer attempt(const S3Request& request, const RequestOptions& options, Duration silence);
  void learn(const S3Failure& failure, const HttpResponse& answer, const Credentials& used);
  WallTime stores_time() const;
  void got_no_answer(const Error& error);
  void got_answer();

  Clock& clock_;
  Trace& trace_;
  CurlClient& curl_;
  CredentialCache& credentials_;
  Random random_;
  const S3ClientConfig config_;
  S3Pace pace_;
  int64_t clock_offset_ms_ = 0;  // the store's time minus ours
  int unanswered_ = 0;           // requests in a row
  Time unanswered_since_{};
};

}  // namespace morula
