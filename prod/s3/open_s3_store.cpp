#include "prod/s3/open_s3_store.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/ids.hpp"
#include "core/rt/random.hpp"
#include "prod/s3/credential_cache.hpp"
#include "prod/s3/credential_sources.hpp"
#include "prod/s3/s3_client.hpp"
#include "prod/s3/s3_probe.hpp"
#include "prod/s3/s3_store.hpp"

namespace morula {
namespace {

constexpr Duration kWaitMin = std::chrono::milliseconds(250);
constexpr Duration kWaitMax = std::chrono::seconds(5);
constexpr Duration kVersioningTimeout = std::chrono::seconds(2);
constexpr uint64_t kObjectBytesMax = 1024 * kMiB;
constexpr size_t kConnectionsMax = 128;  // more than requests: the pace is what bounds them

uint64_t random_seed() {
  uint64_t seed = 0;
  MORULA_CHECK(::getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

CurlClientConfig curl_config(const std::string& ca_file) {
  CurlClientConfig config;
  config.transfers_max = kConnectionsMax;
  config.response_bytes_max = kObjectBytesMax;
  config.connection_idle_max = std::chrono::seconds(20);
  config.ca_file = ca_file;
  return config;
}

struct Parts {
  S3Location location;
  S3ClientConfig client;
  std::string ca_file;
};

Result<Parts> resolve(const std::string& location, const S3Options& options,
                      const AwsSettings& settings) {
  Parts parts;
  auto place = parse_s3_location(location);
  MORULA_TRY(place);
  parts.location = std::move(*place);
  const auto addressing = parse_s3_addressing(options.addressing);
  MORULA_TRY(addressing);
  const std::string url = settings.endpoint_url(options.endpoint);
  auto region = settings.region(options.region);
  if (!region && url.empty()) {
    return fail(ErrorCode::kInvalid,
                "which region is the bucket in? Say --s3-region (or AWS_REGION), or --s3-endpoint "
                "for a store that is not AWS");
  }
  parts.client.region = region.value_or("us-east-1");
  auto endpoint = resolve_s3_endpoint(url, parts.client.region, parts.location.bucket, *addressing);
  MORULA_TRY(endpoint);
  parts.client.endpoint = std::move(*endpoint);
  parts.ca_file = settings.ca_file(options.ca_file);
  if (!parts.ca_file.empty() && ::access(parts.ca_file.c_str(), R_OK) != 0) {
    return fail(ErrorCode::kInvalid, fmt::format("cannot read the certificates of {}: {}",
                                                 parts.ca_file, strerrordesc_np(errno)));
  }
  return parts;
}

/// The store with all that it stands on.
class OwnedS3Store final : public Store {
 public:
  OwnedS3Store(Loop& loop, Trace& trace, Parts parts, StoreAccess access)
      : loop_(loop),
        trace_(trace),
        random_(random_seed()),
        curl_(loop, curl_config(parts.ca_file)),
        scope_(loop.domain()),
        requests_(parts.location, parts.client.endpoint.path),
        config_(std::move(parts.client)),
        access_(access) {}

  ~OwnedS3Store() override {
    if (scope_.live() > 0) loop_.run_fiber("close_store", [this] { scope_.close(); });
  }

  Result<> open(const AwsSettings& settings) {
    auto source = find_credential_source(settings, curl_, config_.region);
    MORULA_TRY(source);
    credentials_ = std::make_unique<CredentialCache>(loop_, scope_, trace_, std::move(*source));
    client_ =
        std::make_unique<S3Client>(loop_, trace_, curl_, *credentials_, random_.fork(), config_);
    store_ = std::make_unique<S3Store>(*client_, requests_, S3Traits{});
    Result<> outcome;
    loop_.run_fiber("probe_store", [&] { outcome = probe_until_answered(); });
    return outcome;
  }

  StoreAbilities abilities() const override { return store_->abilities(); }
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override {
    return store_->get(key, range, options);
  }
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override {
    return store_->head(key, options);
  }
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override {
    MORULA_TRY(may_write());
    return store_->put(key, std::move(body), precondition, options);
  }
  Result<> remove(std::string_view key, const RequestOptions& options) override {
    MORULA_TRY(may_write());
    return store_->remove(key, options);
  }
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override {
    MORULA_TRY(may_write());
    return store_->remove_many(keys, options);
  }
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override {
    return store_->list(prefix, start_after, limit, options);
  }

 private:
  Result<> may_write() const {
    if (access_ == StoreAccess::kServe) return {};
    return fail(ErrorCode::kDenied, "the store was opened to be looked at only");
  }

  Result<> probe_until_answered() {
    Duration pause = kWaitMin;
    bool waited = false;
    const std::string& where = client_->endpoint().base;
    for (;;) {
      const std::string name = Ulid::draw(loop_.wall(), random_).text();
      auto probed = access_ == StoreAccess::kServe ? probe_s3_store(*store_, loop_, name)
                                                   : probe_s3_reads(*store_, loop_, name);
      if (probed) {
        if (waited) trace_.log(Severity::kInfo, "store_answers", {{"endpoint", where}});
        warn_of_old_versions();
        return {};
      }
      const Error& error = probed.error();
      if (error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kTimeout &&
          error.code != ErrorCode::kThrottled && error.code != ErrorCode::kConflict) {
        return probed;
      }
      trace_.log(Severity::kWarning, "waiting_for_store",
                 {{"endpoint", where}, {"why", error.message}});
      waited = true;
      loop_.sleep(pause);
      pause = std::min(pause * 2, kWaitMax);
    }
  }

  void warn_of_old_versions() {
    if (access_ != StoreAccess::kServe) return;
    const auto kept = store_->keeps_old_versions({.deadline = loop_.now() + kVersioningTimeout});
    // Who may not ask is not bothered.
    if (!kept || !*kept) return;
    trace_.log(Severity::kWarning, "bucket_keeps_old_versions",
               {{"bucket", requests_.location().bucket},
                {"advice",
                 "a cell deletes many small objects, and this bucket keeps each of them: let a "
                 "lifecycle rule expire noncurrent versions after a day"}});
  }

  Loop& loop_;
  Trace& trace_;
  Random random_;
  CurlClient curl_;
  Scope scope_;
  S3Requests requests_;
  S3ClientConfig config_;
  StoreAccess access_;
  std::unique_ptr<CredentialCache> credentials_;
  std::unique_ptr<S3Client> client_;
  std::unique_ptr<S3Store> store_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_s3_store(Loop& loop, Trace& trace, const std::string& location,
                                             const S3Options& options, const AwsSettings& settings,
                                             StoreAccess access) {
  auto parts = resolve(location, options, settings);
  MORULA_TRY(parts);
  auto store = std::make_unique<OwnedS3Store>(loop, trace, std::move(*parts), access);
  MORULA_TRY(store->open(settings));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace morula
