#include "sim/faults/store_episodes.hpp"

#include <iterator>

#include "sim/scenario/plan.hpp"

namespace morula::sim {

namespace {

constexpr Purpose kPurposes[] = {Purpose::kLog,        Purpose::kHeartbeat, Purpose::kHeartbeat,
                                 Purpose::kHeartbeat,  Purpose::kOwnership, Purpose::kFlush,
                                 Purpose::kCompaction, Purpose::kTrim,      Purpose::kGc};

struct Kind {
  StoreCall call;
  Purpose purpose;
};
constexpr Kind kKinds[] = {
    {StoreCall::kPut, Purpose::kOwnership}, {StoreCall::kPut, Purpose::kOwnership},
    {StoreCall::kGet, Purpose::kOwnership}, {StoreCall::kList, Purpose::kOwnership},
    {StoreCall::kPut, Purpose::kFlush},     {StoreCall::kPut, Purpose::kLog},
    {StoreCall::kGet, Purpose::kHeartbeat}, {StoreCall::kPut, Purpose::kHeartbeat}};

/// Between `low` and `high` percent of `whole`.
Duration percent(Random& random, Duration whole, uint64_t low, uint64_t high) {
  return Duration(whole.count() / 100 * static_cast<int64_t>(random.between(low, high)));
}

bool strikes(const StoreEpisodes::Episode& episode, const StoreRequest& request, TrueTime now) {
  return now >= episode.from && now < episode.until &&
         (!episode.process || *episode.process == request.process) &&
         (!episode.but_process || *episode.but_process != request.process) &&
         (!episode.purpose || *episode.purpose == request.purpose) &&
         (!episode.call || *episode.call == request.call);
}

}  // namespace

void StoreEpisodes::apply(const StoreRequest& request, TrueTime now, StoreFate& fate) {
  if (episodes_.empty()) return;
  for (const Episode& episode : episodes_) {
    if (!strikes(episode, request, now)) continue;
    switch (episode.effect) {
      case Effect::kLost:
        fate.lands = false;
        break;
      case Effect::kUnheard:
        fate.answered = false;
        break;
      case Effect::kSlow:
        fate.to_store += episode.delay;
        break;
      case Effect::kSlowBack:
        fate.to_caller += episode.delay;
        break;
    }
  }
  std::erase_if(episodes_, [now](const Episode& episode) { return now >= episode.until; });
}

void StoreEpisodes::strike(Fault fault, ProcessId victim, const Plan& plan, TrueTime now,
                           Random& random) {
  switch (fault) {
    case Fault::store_purpose_cut:
      return cut_purpose(victim, plan, now, random);
    case Fault::store_kind_slow:
      return slow_kind(plan, now, random);
    case Fault::lease_stutter:
      return stutter(victim, plan, now, random);
    case Fault::stale_watch:
      return stale_watch(victim, plan, now, random);
    case Fault::blind_writer:
      return blind_writer(victim, plan, now, random);
    case Fault::trim_slow:
      return slow_trim(plan, now, random);
    default:
      return;
  }
}

// The process goes on with everything else: a writer that can't renew its lease, say.
void StoreEpisodes::cut_purpose(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  Episode episode;
  episode.from = now;
  episode.until = now + percent(random, plan.instance.lease.lease, 50, 500);
  episode.process = victim;
  episode.purpose = kPurposes[random.below(std::size(kPurposes))];
  episode.effect = random.chance(2, 3) ? Effect::kLost : Effect::kUnheard;
  begin(episode);
}

// Slow, but answered before its caller gives up.
void StoreEpisodes::slow_kind(const Plan& plan, TrueTime now, Random& random) {
  const Kind kind = kKinds[random.below(std::size(kKinds))];
  Episode episode;
  episode.from = now;
  episode.until = now + percent(random, plan.instance.lease.lease, 50, 500);
  episode.purpose = kind.purpose;
  episode.call = kind.call;
  episode.effect = random.chance(2, 3) ? Effect::kSlow : Effect::kSlowBack;
  episode.delay = percent(random, plan.instance.retry.attempt_timeout, 20, 90);
  begin(episode);
}

void StoreEpisodes::renewed(ProcessId process, TrueTime now) {
  for (size_t i = 0; i < last_renewals_.size(); ++i) {
    const LastRenewal last = last_renewals_[i];
    if (last.process != process || now < last.from) continue;
    last_renewals_.erase(last_renewals_.begin() + static_cast<ptrdiff_t>(i));
    Episode lost;
    lost.from = now;
    lost.until = now + last.cut;
    lost.process = process;
    lost.purpose = last.purpose;
    lost.effect = Effect::kLost;
    begin(lost);
    // What watchers have under way stays slow.
    for (Episode& episode : episodes_) {
      if (episode.but_process == process) episode.until = now;
    }
    return;
  }
}

void StoreEpisodes::arm_last_renewal(ProcessId victim, const Plan& plan, TrueTime from,
                                     Random& random) {
  LastRenewal last;
  last.process = victim;
  last.from = from;
  last.cut = percent(random, plan.instance.lease.lease, 120, 250);
  if (random.chance(1, 2)) last.purpose = Purpose::kHeartbeat;
  last_renewals_.push_back(last);
}

// Renewals land but are not answered for most of a lease; then one is, for an old send; then
// nothing gets through until others have long taken over.
void StoreEpisodes::stutter(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  Episode unheard;
  unheard.from = now;
  unheard.until = now + percent(random, plan.instance.lease.lease, 50, 95);
  unheard.process = victim;
  unheard.purpose = Purpose::kHeartbeat;
  unheard.effect = Effect::kUnheard;
  begin(unheard);
  arm_last_renewal(victim, plan, unheard.until, random);
}

// Those who watch a member see its last renewal in a read that they sent long before it.
void StoreEpisodes::stale_watch(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  Episode slow;
  slow.delay = percent(random, plan.instance.retry.attempt_timeout, 50, 95);
  slow.from = now;
  slow.until = now + slow.delay * 2 + plan.instance.lease.lease;
  slow.but_process = victim;
  slow.purpose = Purpose::kHeartbeat;
  slow.call = StoreCall::kGet;
  slow.effect = Effect::kSlow;
  begin(slow);
  arm_last_renewal(victim, plan, now + slow.delay, random);
}

// Between the reads of one trim there is time for a takeover, for acknowledgements and a flush.
void StoreEpisodes::slow_trim(const Plan& plan, TrueTime now, Random& random) {
  Episode slow;
  slow.from = now;
  slow.until = now + percent(random, plan.instance.lease.lease, 200, 500);
  slow.purpose = Purpose::kTrim;
  slow.call = StoreCall::kGet;
  slow.effect = random.chance(1, 2) ? Effect::kSlow : Effect::kSlowBack;
  slow.delay = percent(random, plan.instance.retry.attempt_timeout, 30, 95);
  begin(slow);
}

// It writes, flushes and trims on while others expire it, list its log and send their fence.
void StoreEpisodes::blind_writer(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  Episode slow;
  slow.delay = percent(random, plan.instance.retry.attempt_timeout, 30, 95);
  slow.from = now;
  slow.until = now + percent(random, plan.instance.lease.lease, 200, 300) + slow.delay * 2;
  slow.but_process = victim;
  slow.purpose = Purpose::kOwnership;
  slow.call = StoreCall::kPut;
  slow.effect = Effect::kSlow;
  begin(slow);
  Episode blind;
  blind.from = now;
  blind.until = slow.until;
  blind.process = victim;
  blind.purpose = Purpose::kHeartbeat;
  blind.effect = random.chance(1, 2) ? Effect::kLost : Effect::kUnheard;
  begin(blind);
}

}  // namespace morula::sim
