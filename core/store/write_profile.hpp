// How somebody's writes use the round trips that they pay for: whether more of them could share
// one.
//
// An *envelope* is what one writer wants written: an object of a store, an append of a log. A
// *round trip* carries one or more of them.
#pragma once

#include <cstdint>

#include "core/store/observed_store.hpp"

namespace morula {

class WriteProfile {
 public:
  struct Figures {
    uint64_t envelopes = 0;
    uint64_t round_trips = 0;
    uint64_t overlapped = 0;  // round trips that began while another was under way
    uint64_t concurrent_peak = 0;
    Duration total{};    // of all round trips' times
    Duration longest{};  // of one round trip
    Time first_began{};  // of those that have ended
    Time last_ended{};

    /// From the first begin to the last end.
    Duration span() const { return last_ended - first_began; }
    double envelopes_per_second() const;
  };

  void began();
  /// A round trip that began at `at` and carried `envelopes` has ended.
  void ended(Time at, Time now, uint64_t envelopes);

  const Figures& figures() const { return figures_; }
  /// Begins again. Round trips under way are counted when they end.
  void reset();

 private:
  Figures figures_;
  uint64_t under_way_ = 0;
};

/// One round trip of a profile, which may be null: nobody wants to know.
class ProfiledRoundTrip {
 public:
  ProfiledRoundTrip(WriteProfile* profile, const Clock& clock, uint64_t envelopes);
  ~ProfiledRoundTrip();
  ProfiledRoundTrip(const ProfiledRoundTrip&) = delete;
  ProfiledRoundTrip& operator=(const ProfiledRoundTrip&) = delete;

 private:
  WriteProfile* profile_;
  const Clock& clock_;
  uint64_t envelopes_;
  Time began_{};
};

/// Profiles the puts of an ObservedStore; each carries one envelope.
class PutProfiler final : public StoreObserver {
 public:
  explicit PutProfiler(WriteProfile& profile) : profile_(profile) {}
  void on_sent(const StoreExchange& exchange) override;
  void on_answered(const StoreExchange& exchange) override;

 private:
  WriteProfile& profile_;
};

}  // namespace morula
