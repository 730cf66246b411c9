#include "prod/s3/credential_cache.hpp"

#include <algorithm>
#include <utility>

namespace morula {

CredentialCache::CredentialCache(Clock& clock, Scope& scope, Trace& trace,
                                 std::unique_ptr<CredentialSource> source)
    : clock_(clock), scope_(scope), trace_(trace), source_(std::move(source)) {}

bool CredentialCache::hold_for(Duration span) const {
  if (!current_) return false;
  if (!current_->expires) return true;
  const auto span_ms = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
  return clock_.wall().ms + span_ms < current_->expires->ms;
}

Result<> CredentialCache::fetch(Time deadline) {
  const Time bound = std::min(deadline, clock_.now() + kFetchTimeout);
  auto fetched = source_->fetch(bound);
  MORULA_TRY(fetched);
  current_ = std::move(*fetched);
  return {};
}

Result<Credentials> CredentialCache::get(Time deadline) {
  if (!hold_for(kUseUntil)) {
    const MutexLock lock(fetching_);
    // Others may have fetched them meanwhile. What has just come is used, however short it lasts.
    if (!hold_for(kUseUntil)) MORULA_TRY(fetch(deadline));
  } else if (!hold_for(kRenewBefore)) {
    renew_ahead();
  }
  return *current_;
}

void CredentialCache::renew_ahead() {
  if (renewing_ || clock_.now() < rests_until_) return;
  renewing_ = true;
  scope_.spawn("renew_credentials", [this] {
    struct AtEnd {
      bool& renewing;
      ~AtEnd() { renewing = false; }
    } const at_end{renewing_};
    const MutexLock lock(fetching_);
    const auto renewed = fetch(kNever);
    // Also after a success: a source may give ones that last less than the time ahead.
    rests_until_ = clock_.now() + kPause;
    if (renewed) return;
    trace_.log(Severity::kWarning, "credentials_not_renewed",
               {{"source", source_->name()}, {"why", renewed.error().message}});
  });
}

void CredentialCache::refused(const Credentials& refused) {
  if (current_ && current_->access_key_id == refused.access_key_id &&
      current_->session_token == refused.session_token) {
    current_.reset();
  }
}

}  // namespace morula
