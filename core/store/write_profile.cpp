#include "core/store/write_profile.hpp"

#include <algorithm>

namespace morula {

double WriteProfile::Figures::envelopes_per_second() const {
  const double seconds = std::chrono::duration<double>(span()).count();
  return seconds > 0 ? static_cast<double>(envelopes) / seconds : 0;
}

void WriteProfile::began() {
  if (under_way_ > 0) ++figures_.overlapped;
  ++under_way_;
  figures_.concurrent_peak = std::max(figures_.concurrent_peak, under_way_);
}

void WriteProfile::ended(Time at, Time now, uint64_t envelopes) {
  --under_way_;
  figures_.first_began = figures_.round_trips == 0 ? at : std::min(figures_.first_began, at);
  figures_.envelopes += envelopes;
  ++figures_.round_trips;
  figures_.total += now - at;
  figures_.longest = std::max(figures_.longest, now - at);
  figures_.last_ended = now;
}

void WriteProfile::reset() {
  figures_ = {};
  figures_.concurrent_peak = under_way_;
}

ProfiledRoundTrip::ProfiledRoundTrip(WriteProfile* profile, const Clock& clock, uint64_t envelopes)
    : profile_(profile), clock_(clock), envelopes_(envelopes) {
  if (profile_ == nullptr) return;
  began_ = clock_.now();
  profile_->began();
}

ProfiledRoundTrip::~ProfiledRoundTrip() {
  if (profile_ != nullptr) profile_->ended(began_, clock_.now(), envelopes_);
}

void PutProfiler::on_sent(const StoreExchange& exchange) {
  if (exchange.call == StoreCall::kPut) profile_.began();
}

void PutProfiler::on_answered(const StoreExchange& exchange) {
  if (exchange.call == StoreCall::kPut) profile_.ended(exchange.sent, exchange.answered, 1);
}

}  // namespace morula
