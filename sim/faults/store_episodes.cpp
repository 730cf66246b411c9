#include "sim/faults/store_episodes.hpp"

#include <iterator>

#include "sim/scenario/plan.hpp"

namespace morula::sim {

namespace {

constexpr Purpose kPurposes[] = {Purpose::kLog,       Purpose::kHeartbeat, Purpose::kHeartbeat,
                                 Purpose::kHeartbeat, Purpose::kOwnership, Purpose::kFlush,
                                 Purpose::kTrim};

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

// Renewals land but are not answered for most of a lease; then one is, for an old send; then
// nothing gets through until others have long taken over.
void StoreEpisodes::stutter(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  const Duration lease = plan.instance.lease.lease;
  Episode unheard;
  unheard.from = now;
  unheard.until = now + percent(random, lease, 40, 95);
  unheard.process = victim;
  unheard.purpose = Purpose::kHeartbeat;
  unheard.effect = random.chance(1, 2) ? Effect::kUnheard : Effect::kSlowBack;
  unheard.delay = percent(random, lease, 40, 90);
  begin(unheard);
  Episode lost;
  lost.from = unheard.until + percent(random, plan.instance.retry.attempt_timeout, 50, 150) +
              percent(random, lease, 0, 20);
  lost.until = lost.from + percent(random, lease, 100, 250);
  lost.process = victim;
  if (random.chance(1, 3)) lost.purpose = Purpose::kHeartbeat;
  lost.effect = Effect::kLost;
  begin(lost);
}

// Those who watch a member see its last renewal in a read that they sent long before it.
void StoreEpisodes::stale_watch(ProcessId victim, const Plan& plan, TrueTime now, Random& random) {
  const Duration lease = plan.instance.lease.lease;
  Episode slow;
  slow.delay = percent(random, plan.instance.retry.attempt_timeout, 50, 95);
  slow.from = now;
  slow.until = now + slow.delay * 2;
  slow.but_process = victim;
  slow.purpose = Purpose::kHeartbeat;
  slow.call = StoreCall::kGet;
  slow.effect = Effect::kSlow;
  begin(slow);
  Episode lost;
  lost.from = now + slow.delay * 2 - percent(random, slow.delay, 0, 100);
  lost.until = lost.from + percent(random, lease, 120, 250);
  lost.process = victim;
  if (random.chance(1, 3)) lost.purpose = Purpose::kHeartbeat;
  lost.effect = Effect::kLost;
  begin(lost);
}

}  // namespace morula::sim
