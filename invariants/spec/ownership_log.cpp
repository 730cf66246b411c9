#include "invariants/spec/ownership_log.hpp"

#include <array>

#include "invariants/spec/switches.hpp"

namespace morula::spec {

namespace {

using Action = OwnershipLog::Action;
using Step = OwnershipLog::Step;

constexpr auto kSwitches = std::to_array<std::string_view>({
#define MORULA_SWITCH_NAME(name) #name,
    MORULA_OWNERSHIP_LOG_SWITCHES(MORULA_SWITCH_NAME)
#undef MORULA_SWITCH_NAME
});

constexpr auto kActions = std::to_array<std::string_view>({
#define MORULA_ACTION_NAME(name, function, what) #name,
    MORULA_OWNERSHIP_LOG_ACTIONS(MORULA_ACTION_NAME)
#undef MORULA_ACTION_NAME
});

}  // namespace

std::span<const std::string_view> OwnershipLog::actions() {
  return kActions;
}

std::span<const std::string_view> OwnershipLog::switches() {
  return kSwitches;
}

Result<OwnershipLog> OwnershipLog::configured(const ModelConfig& config) {
  using Kind = ModelConfig::Kind;
  MORULA_TRY(config.has_exactly({{"Incs", Kind::kNumbers},
                                 {"Shards", Kind::kNumbers},
                                 {"Own1", Kind::kNumber},
                                 {"Own2", Kind::kNumber},
                                 {"W", Kind::kNumber},
                                 {"Keep", Kind::kNumber},
                                 {"MaxSeq", Kind::kNumber},
                                 {"MaxRec", Kind::kNumber},
                                 {"MaxTake", Kind::kNumber},
                                 {"MaxHand", Kind::kNumber},
                                 {"MaxFlush", Kind::kNumber},
                                 {"MaxGC", Kind::kNumber},
                                 {"MaxFence", Kind::kNumber},
                                 {"MaxReopen", Kind::kNumber},
                                 {"Takers", Kind::kNumbers},
                                 {"Dup", Kind::kBoolean},
                                 {"Mut", Kind::kStrings}}));
  const auto incarnations = first_numbers(config.numbers("Incs"), "Incs");
  MORULA_TRY(incarnations);
  const auto shards = first_numbers(config.numbers("Shards"), "Shards");
  MORULA_TRY(shards);
  if (*shards > 2) return fail(ErrorCode::kInvalid, "Shards: there are first owners for two");
  const auto switches = switches_of(config.strings("Mut"), kSwitches);
  MORULA_TRY(switches);

  Constants c;
  c.incarnations = *incarnations;
  c.shards = *shards;
  c.first_owners = {config.number("Own1"), config.number("Own2")};
  c.first_owners.resize(static_cast<size_t>(c.shards));
  for (const int owner : c.first_owners) {
    if (owner < 1 || owner > c.incarnations) return fail(ErrorCode::kInvalid, "Own1, Own2: who?");
  }
  c.window = config.number("W");
  c.keep = config.number("Keep");
  c.max_seq = config.number("MaxSeq");
  c.max_records = config.number("MaxRec");
  c.max_takeovers = config.number("MaxTake");
  c.max_handoffs = config.number("MaxHand");
  c.max_flushes = config.number("MaxFlush");
  c.max_collections = config.number("MaxGC");
  c.max_fences = config.number("MaxFence");
  c.max_reopens = config.number("MaxReopen");
  for (const int taker : config.numbers("Takers")) c.takers.insert(taker);
  c.land_again = config.boolean("Dup");
  c.switches = *switches;
  return OwnershipLog(std::move(c));
}

OwnershipLogState OwnershipLog::initial() const {
  State s;
  s.incarnations.resize(static_cast<size_t>(c_.incarnations));
  for (LogIncarnation& i : s.incarnations) i.serves.resize(static_cast<size_t>(c_.shards));
  for (int x = 1; x <= c_.shards; ++x) {
    const int owner = c_.first_owners[static_cast<size_t>(x - 1)];
    s.topology.push_back({0, owner, x});
    s.manifests.push_back({0, false, {}, {{owner, 0, kOpen}}});
    s.serve(owner, x, x);
  }
  return s;
}

bool OwnershipLog::apply(const State& now, const Step& step, State* after) const {
  switch (step.action) {
#define MORULA_ACTION_CASE(name, function, what) \
  case Action::k##name:                          \
    return function(now, step, after);
    MORULA_OWNERSHIP_LOG_ACTIONS(MORULA_ACTION_CASE)
#undef MORULA_ACTION_CASE
  }
  return false;
}

void OwnershipLog::each_step(const State& now, const std::function<void(const Step&)>& call) const {
  each_owner_step(now, call);
  each_taker_step(now, call);
  each_collector_step(now, call);
  for (int n = 0; n < now.manifest_requests.size(); ++n) {
    call({.action = Action::kLandManifest, .request = n});
  }
  for (int n = 0; n < now.topology_requests.size(); ++n) {
    call({.action = Action::kPublish, .request = n});
  }
}

void OwnershipLog::each_owner_step(const State& now,
                                   const std::function<void(const Step&)>& call) const {
  for (int i = 1; i <= now.incarnation_count(); ++i) {
    for (int x = 1; x <= now.shard_count(); ++x) {
      for (const Action action :
           {Action::kPutLog, Action::kFlush, Action::kReplay, Action::kReopen}) {
        call({.action = action, .incarnation = i, .shard = x});
      }
      for (int j = 1; j <= now.incarnation_count(); ++j) {
        call({.action = Action::kHandAsk, .incarnation = i, .other = j, .shard = x});
      }
    }
    const LogIncarnation& own = now.of(i);
    for (int seq = 0; seq < own.next(); ++seq) {
      call({.action = Action::kLandLog, .incarnation = i, .seq = seq});
    }
    for (const Action action :
         {Action::kTrim, Action::kTrimNote, Action::kTrimReadTopology, Action::kTrimReadManifests,
          Action::kTrimDelete, Action::kTrimEnd, Action::kStop, Action::kLandStopFence,
          Action::kHandSeal, Action::kHandStop, Action::kHandAbort, Action::kHandResume}) {
      call({.action = action, .incarnation = i});
    }
    if (own.handing.at == Handing::At::kIdle) continue;
    for (const int q : own_positions(now, own.handing.to)) {
      call({.action = Action::kAccept, .incarnation = i, .position = q});
    }
    Set<int> promised;
    for (const Promise& r : now.promises) {
      if (r.attempt == own.handing.attempt) promised.insert(r.position);
    }
    for (const int q : promised) {
      call({.action = Action::kHandOff, .incarnation = i, .position = q});
    }
  }
}

void OwnershipLog::each_taker_step(const State& now,
                                   const std::function<void(const Step&)>& call) const {
  for (const int j : c_.takers) {
    const Taking& taking = now.of(j).taking;
    switch (taking.at) {
      case Taking::At::kIdle:
        for (int i = 1; i <= now.incarnation_count(); ++i) {
          for (const int f : fence_positions(now.of(i))) {
            call({.action = Action::kCollectorFence, .incarnation = j, .other = i, .position = f});
            for (const Set<int>& shards : subsets_of(owned_by(now, i))) {
              call({.action = Action::kTakeOver,
                    .incarnation = j,
                    .other = i,
                    .position = f,
                    .shards = shards});
            }
          }
        }
        break;
      case Taking::At::kList:
        for (const int f : fence_positions(now.of(taking.from))) {
          call({.action = Action::kFenceAgain, .incarnation = j, .position = f});
        }
        break;
      case Taking::At::kPut:
        call({.action = Action::kFencePut, .incarnation = j});
        break;
      case Taking::At::kCheck:
        call({.action = Action::kFence, .incarnation = j});
        break;
      case Taking::At::kFenced:
        for (const Set<int>& shards : subsets_of(owned_by(now, taking.from))) {
          call({.action = Action::kTakeRead, .incarnation = j, .shards = shards});
        }
        break;
      case Taking::At::kSeal:
        call({.action = Action::kSeal, .incarnation = j});
        for (const int q : on(Switch::qBeforePin) ? Set{taking.pinned} : own_positions(now, j)) {
          call({.action = Action::kAdopt, .incarnation = j, .position = q});
        }
        break;
    }
  }
}

void OwnershipLog::each_collector_step(const State& now,
                                       const std::function<void(const Step&)>& call) const {
  switch (now.collector.at) {
    case LogCollector::At::kIdle:
      for (int i = 1; i <= now.incarnation_count(); ++i) {
        for (int f = 0; f <= now.of(i).highest_object() || f == 0; ++f) {
          call({.action = Action::kCollectJudge, .incarnation = i, .position = f});
        }
      }
      return;
    case LogCollector::At::kJudged:
      call({.action = Action::kCollectReadTopology});
      break;
    case LogCollector::At::kReadTopology:
      call({.action = Action::kCollectReadManifests});
      break;
    case LogCollector::At::kDelete:
      for (int seq = 0; seq <= now.of(now.collector.of).highest_object(); ++seq) {
        call({.action = Action::kCollect, .incarnation = now.collector.of, .seq = seq});
      }
      break;
  }
  call({.action = Action::kCollectEnd});
}

std::string OwnershipLog::describe(const Step& step) {
  std::string text(kActions[static_cast<size_t>(step.action)]);
  const auto add = [&](const char* name, int value) {
    if (value != 0) text += std::string(" ") + name + "=" + std::to_string(value);
  };
  add("incarnation", step.incarnation);
  add("other", step.other);
  add("shard", step.shard);
  add("seq", step.seq);
  add("position", step.position);
  add("request", step.request);
  for (const int shard : step.shards) add("of", shard);
  return text;
}

}  // namespace morula::spec
