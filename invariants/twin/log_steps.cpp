#include "invariants/twin/log_steps.hpp"

#include <algorithm>

namespace morula::invariants::twin {

namespace {

using Action = spec::OwnershipLogAction;
using spec::LogObject;

constexpr std::string_view kSpec = "OwnershipLog";

/// As a position of the projection: below the base is below 0, which is what 0 means there.
int position(uint64_t seq, uint64_t base) {
  return seq <= base ? 0 : static_cast<int>(seq - base);
}

spec::LogEntry entry(const ManifestLog& log, uint64_t base) {
  return {1, position(log.from.value, base), log.to ? position(log.to->value, base) : spec::kOpen};
}

std::string at(const SeenLog& own, uint64_t seq) {
  return "seq " + std::to_string(seq) + " of the log of " + own.id.text();
}

/// An incarnation that fences the log of incarnation 1 at `fence`.
spec::LogIncarnation taker_at(spec::Taking::At at, int fence) {
  spec::LogIncarnation taker;
  taker.taking.at = at;
  taker.taking.from = 1;
  taker.taking.fence = fence;
  return taker;
}

}  // namespace

const spec::OwnershipLog& LogSteps::twin() {
  if (!twin_ || twin_window_ != cell_.window()) {
    twin_window_ = cell_.window();
    Spec::Constants c;
    c.incarnations = 1;
    c.shards = 1;
    c.first_owners = {1};
    c.window = c.keep = static_cast<int>(twin_window_);
    c.land_again = true;
    twin_.emplace(std::move(c));
  }
  return *twin_;
}

/// Incarnation 1 with the positions [base, end) of its log, served or not.
spec::OwnershipLogState LogSteps::log_from(const SeenLog& own, uint64_t base, uint64_t end) const {
  State state;
  spec::LogIncarnation& log = state.incarnations.emplace_back();
  for (uint64_t seq = base; seq < std::min(end, own.sent); ++seq) {
    log.sent.push_back({1, 0, own.has_landed(seq)});
  }
  for (auto it = own.objects.lower_bound(base); it != own.objects.end() && it->first < end; ++it) {
    log.set_object(position(it->first, base), it->second);
  }
  log.serves = {0};
  log.stopped = own.stopped;
  return state;
}

/// The manifests that name the log, each as that of a shard.
void LogSteps::add_named(State& state, const SeenLog& own, uint64_t base) const {
  cell_.each_named([&](const TopologyShard& row, const Manifest& named) {
    spec::LogManifest manifest;
    for (const ManifestLog& log : named.logs) {
      if (log.incarnation == own.id) manifest.logs.insert(entry(log, base));
    }
    const bool owned = row.owner == own.id;
    if (manifest.logs.empty() && !owned) return;
    state.manifests.push_back(std::move(manifest));
    state.topology.push_back({0, owned ? 1 : 2, static_cast<int>(state.manifests.size())});
  });
  state.of(1).serves.assign(state.topology.size(), 0);
}

/// What it has sent and promised.
void LogSteps::add_requests(State& state, const SeenLog& own, uint64_t base) const {
  const auto entries = [&](const Manifest& manifest) {
    spec::Set<spec::LogEntry> logs;
    for (const ManifestLog& log : manifest.logs) {
      if (log.incarnation == own.id) logs.insert(entry(log, base));
    }
    return logs;
  };
  for (const SentManifest& request : cell_.sent_manifests()) {
    if (request.by != own.number) continue;
    state.manifest_requests.insert({1, 0, 0, 0, {}, entries(*request.content)});
  }
  for (const SentTopology& request : cell_.sent_topologies()) {
    if (request.by != own.number) continue;
    spec::TopologyRequest sent{1, 0, {}};
    for (const TopologyShard& row : request.content->shards) {
      const TopologyShard* now = cell_.topology()->find(row.prefix);
      const Manifest* next = cell_.manifest(row.manifest);
      if (next == nullptr || (now != nullptr && now->manifest == row.manifest)) continue;
      state.manifests.push_back({0, false, {}, entries(*next)});
      const int key = static_cast<int>(state.manifests.size());
      sent.rows.insert({key, key, 0, 0});
    }
    state.topology_requests.insert(std::move(sent));
  }
  for (const SeenPromise& promise : cell_.promises()) {
    if (promise.by != own.number) continue;
    state.promises.insert({0, 1, position(promise.position, base), 0, true});
  }
}

bool LogSteps::can(const State& state, const Spec::Step& step, const std::string& what) {
  if (findings_.can(kSpec, twin(), state, step)) return true;
  findings_.cannot(kSpec, Spec::describe(step), what);
  return false;
}

void LogSteps::appended(SeenLog& own, StreamId stream, uint64_t seq) {
  if (cell_.topology() != nullptr) {
    State state = log_from(own, own.sent, own.sent);
    state.topology = {{0, 1, 1}};
    state.manifests.resize(1);
    if (own.may_serve(stream)) state.serve(1, 1, 1);
    const Spec::Step step{.action = Action::kPutLog, .incarnation = 1, .shard = 1};
    if (!findings_.can(kSpec, twin(), state, step)) {
      findings_.cannot(kSpec, Spec::describe(step),
                       "a record of stream " + stream.text() + " joins " + at(own, seq) +
                           ", which does not serve it" + (own.stopped ? ": it has stopped" : ""));
    }
  }
  own.last_records[stream] = seq;
  own.placed = std::max(own.placed, seq + 1);
}

void LogSteps::PutLog(SeenLog& own, uint64_t seq) {
  State state = log_from(own, own.landed, own.sent);
  state.topology = {{0, 1, 1}};
  state.manifests.resize(1);
  state.serve(1, 1, 1);
  const Spec::Step step{.action = Action::kPutLog, .incarnation = 1, .shard = 1};
  if (can(state, step,
          at(own, seq) + " is sent, of which all below " + std::to_string(own.landed) +
              " has landed and what follows up to " + std::to_string(own.sent) +
              " was sent; the window is " + std::to_string(cell_.window())) &&
      seq != own.sent) {
    findings_.differs(kSpec, Spec::describe(step),
                      at(own, seq) + " is sent after seq " + std::to_string(own.sent) + " - 1");
  }
  own.sent = std::max(own.sent, seq + 1);
}

/// No action: the definition Acked. And F, of the fences that were taken to count.
void LogSteps::Acknowledge(SeenLog& own, uint64_t position_said) {
  const uint64_t base = std::min(own.landed, position_said);
  const State state = log_from(own, base, position_said + 1);
  if (position(position_said, base) > state.of(1).acknowledged()) {
    findings_.none(kSpec, own.id.text() + " acknowledges its log up to " +
                              std::to_string(position_said) + ", of which only what lies below " +
                              std::to_string(own.landed) + " has landed (Acked)");
  }
}

void LogSteps::Stop(SeenLog& own, uint64_t seq) {
  if (own.sent > 0 && !own.stopped) {
    const State state = log_from(own, own.landed - (own.landed > 0 ? 1 : 0), own.sent);
    const Spec::Step step{.action = Action::kStop, .incarnation = 1};
    const std::string what = "its own FENCE is sent to " + at(own, seq) + ", of which all below " +
                             std::to_string(own.landed) + " has landed and " +
                             std::to_string(own.sent) + " batches were sent";
    if (can(state, step, what) && seq != own.sent) {
      findings_.differs(kSpec, Spec::describe(step), what);
    }
  }
  own.stopped = true;
}

bool LogSteps::counts(const SeenLog& own, uint64_t fence) {
  State state = log_from(own, fence, UINT64_MAX);
  state.incarnations.push_back(taker_at(spec::Taking::At::kCheck, 0));
  State after = state;
  const Spec::Step step{.action = Action::kFence, .incarnation = 2};
  if (!twin().can(state, step)) return false;
  twin().take(state, step, after);
  return after.of(2).taking.at == spec::Taking::At::kFenced;
}

void LogSteps::look_at_fences(SeenLog& own) {
  for (const uint64_t seq : own.fences) {
    if (counts(own, seq)) own.fences_counted.insert(seq);
  }
}

void LogSteps::Fence(const SeenLog& taker, SeenLog& victim, uint64_t seq) {
  const std::string what = taker.id.text() + " takes the FENCE at " + at(victim, seq) + " to count";
  if (victim.fences_counted.contains(seq)) {
    findings_.took(kSpec, "Fence");
  } else {
    const auto there = victim.objects.find(seq);
    const bool lies_there = there != victim.objects.end() && there->second == LogObject::kFence;
    findings_.differs(kSpec, "Fence", what + (lies_there ? ": it never did" : ": there is none"));
  }
  // F: nothing at or above it is acknowledged.
  const uint64_t base = std::min(victim.landed, seq);
  State state = log_from(victim, base, seq + 1);
  state.incarnations.push_back(taker_at(spec::Taking::At::kFenced, position(seq, base)));
  if (!twin().holds("F", state)) {
    findings_.differs(
        kSpec, "Fence",
        what + ", but all below " + std::to_string(victim.landed) + " has landed (F)");
  }
  victim.fenced_by[taker.number] = seq;
}

void LogSteps::Accept(const SeenLog& receiver, Prefix shard, const StepEvent& event) {
  const uint64_t q = event.position;
  const Version base(event.other);
  // Batches that were cut count as sent: what joins the log from now on comes after them.
  const bool is_next = q >= receiver.next_lowest() && q <= receiver.next_highest();
  State state;
  state.incarnations.resize(2);
  state.of(2).stopped = receiver.stopped;
  if (is_next) state.of(2).sent.resize(1);
  state.of(1).handing = {spec::Handing::At::kAsked, 1, 2, 0, 1, 1};
  const bool again = std::ranges::any_of(cell_.promises(), [&](const SeenPromise& promise) {
    return promise.by == receiver.number && promise.attempt == event.attempt && event.attempt != 0;
  });
  if (again) state.promises = {{1, 2, 0, 0, true}};
  const Spec::Step step{.action = Action::kAccept, .incarnation = 1, .position = 1};
  can(state, step,
      receiver.id.text() + " promises seq " + std::to_string(q) + " for shard " + shard.text() +
          (receiver.stopped ? ", but it has stopped"
           : again          ? ", but the same ask has an answer"
                            : ", but its next is " + std::to_string(receiver.sent)));
  if (cell_.topology() != nullptr && base >= cell_.topology()->version) {
    cell_.promised({receiver.number, shard, q, base, event.attempt});
  }
}

void LogSteps::landed(SeenLog& own, uint64_t seq, LogObject object, bool by_itself) {
  if (object == LogObject::kData || by_itself) {
    const State state = log_from(own, seq, seq + 1);
    Spec::Step step{.action = Action::kLandLog, .incarnation = 1};
    if (object == LogObject::kFence) step.action = Action::kLandStopFence;
    can(state, step, at(own, seq) + ", of which " + std::to_string(own.sent) + " were sent");
  }
  own.objects[seq] = object;
  if (object == LogObject::kData && seq >= own.landed) own.landed_above.insert(seq);
  while (!own.landed_above.empty() && *own.landed_above.begin() <= own.landed) {
    if (*own.landed_above.begin() == own.landed) ++own.landed;
    own.landed_above.erase(own.landed_above.begin());
  }
  if (object == LogObject::kFence) own.fences.insert(seq);
  look_at_fences(own);
}

spec::OwnershipLogState LogSteps::trim_state(const SeenLog& own, uint64_t seq) const {
  // What the last W above it are is seen within this.
  State state = log_from(own, seq, seq + 4 * cell_.window() + 4);
  state.of(1).stopped = false;
  add_named(state, own, seq);
  add_requests(state, own, seq);
  return state;
}

void LogSteps::Trim(const SeenLog& own, uint64_t end) {
  if (end == 0) return;
  State state = trim_state(own, end - 1);
  state.of(1).set_object(0, LogObject::kData);
  can(state, {.action = Action::kTrim, .incarnation = 1},
      own.id.text() + " is to delete its log below seq " + std::to_string(end));
}

void LogSteps::Replay(const SeenLog& log, uint64_t from, uint64_t to) {
  for (uint64_t seq = std::max(from, log.landed); seq < to; ++seq) {
    if (log.has_landed(seq)) continue;
    return findings_.none(kSpec, "Replay of [" + std::to_string(from) + ", " + std::to_string(to) +
                                     ") of a log, but " + at(log, seq) + " has not landed");
  }
}

void LogSteps::trimmed(SeenLog& own, uint64_t seq) {
  const auto lies = own.objects.find(seq);
  if (lies == own.objects.end()) return;
  State state = trim_state(own, seq);
  // A stray FENCE may have come to where the data was that this is about.
  if (!own.fences_counted.contains(seq)) state.of(1).set_object(0, LogObject::kData);
  const Spec::Step step{.action = Action::kTrim, .incarnation = 1};
  if (can(state, step, at(own, seq) + " was deleted")) {
    State after = state;
    twin().take(state, step, after);
    if (after.of(1).object(0) != LogObject::kNone) {
      findings_.differs(kSpec, Spec::describe(step), at(own, seq) + " was deleted, a FENCE");
    }
  }
  own.objects.erase(lies);
}

void LogSteps::collected(SeenLog& own, uint64_t seq, CollectorId collector) {
  const auto lies = own.objects.find(seq);
  if (lies == own.objects.end()) return;
  // Two places are enough: this one and the fence's, which lies below it or above.
  const bool above = !own.fences_counted.empty() && *own.fences_counted.begin() < seq;
  const uint64_t base = above ? seq - 1 : seq;
  const int place = above ? 1 : 0;
  // A stray FENCE may have come to where a collector had seen data.
  const bool is_fence = lies->second == LogObject::kFence && own.fences_counted.contains(seq);
  const int fence = is_fence ? place : 1 - place;
  State state;
  state.incarnations.resize(1);
  state.of(1).set_object(place, is_fence ? LogObject::kFence : LogObject::kData);
  if (!own.fences_counted.empty()) state.of(1).set_object(fence, LogObject::kFence);
  add_named(state, own, base);
  if (!cell_.is_owner_to(collector, own.id)) {
    for (spec::ShardRow& row : state.topology) row.owner = 2;
  }
  const std::string what = at(own, seq) + " was collected";
  for (const Spec::Step& step :
       {Spec::Step{.action = Action::kCollectJudge, .incarnation = 1, .position = fence},
        Spec::Step{.action = Action::kCollectReadTopology},
        Spec::Step{.action = Action::kCollectReadManifests},
        Spec::Step{.action = Action::kCollect, .incarnation = 1, .seq = place}}) {
    if (!can(state, step, what)) break;
    State after = state;
    twin().take(state, step, after);
    state = std::move(after);
  }
  own.objects.erase(lies);
}

}  // namespace morula::invariants::twin
