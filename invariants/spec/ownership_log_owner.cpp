// What an owner does by itself: append, flush, trim, stop.
#include "invariants/spec/ownership_log.hpp"

namespace morula::spec {

bool OwnershipLog::put_log(const State& now, const Step& step, State* after) const {
  const auto [i, x] = std::pair(step.incarnation, step.shard);
  const LogIncarnation& own = now.of(i);
  const int key = now.serves(i, x);
  if (key == 0 || own.stopped || own.next() >= c_.max_seq) return false;
  if (batches_sent(now) >= c_.max_records) return false;
  int in_flight = own.next() - own.acknowledged();
  if (on(Switch::windowByCount)) {
    in_flight = 0;
    for (const SentBatch& batch : own.sent) in_flight += batch.landed ? 0 : 1;
  }
  if (in_flight >= c_.window) return false;
  if (after == nullptr) return true;

  const LogManifest& m = now.manifest(key);
  Set<BatchId> known = m.tables;
  known.insert(log_records(now, m, x));
  if (m.open_for(i)) {
    for (int seq = 0; seq < own.next(); ++seq) {
      if (own.batch(seq).shard == x) known.insert({i, seq});
    }
  }
  int highest = 0;
  for (const BatchId& id : known) {
    highest = std::max(highest, now.of(id.incarnation).batch(id.seq).offset);
  }
  after->of(i).sent.push_back({x, highest + 1, false});
  return true;
}

bool OwnershipLog::land_log(const State& now, const Step& step, State* after) const {
  const LogIncarnation& own = now.of(step.incarnation);
  if (step.seq >= own.next() || own.object(step.seq) != LogObject::kNone) return false;
  if (own.batch(step.seq).landed && !c_.land_again) return false;
  if (after == nullptr) return true;

  LogIncarnation& next = after->of(step.incarnation);
  next.set_object(step.seq, LogObject::kData);
  next.sent[static_cast<size_t>(step.seq)].landed = true;
  return true;
}

bool OwnershipLog::flush(const State& now, const Step& step, State* after) const {
  const auto [i, x] = std::pair(step.incarnation, step.shard);
  const int key = now.serves(i, x);
  if (now.counts.flushes >= c_.max_flushes || key == 0 || now.of(i).stopped) return false;
  const LogManifest& m = now.manifest(key);
  const int acknowledged = now.of(i).acknowledged();
  const Set<LogEntry> logs{{i, acknowledged, kOpen}};
  if (m.sealed || !m.open_for(i) || m.logs == logs) return false;
  if (after == nullptr) return true;

  const auto not_yet = [&](const BatchId& id) {
    return id.incarnation == i && id.seq >= acknowledged && m.logs.any([&](const LogEntry& e) {
      return e.incarnation == i && e.to == kOpen && e.from <= id.seq;
    });
  };
  Set<BatchId> tables = m.tables;
  for (const BatchId& id : log_records(now, m, x)) {
    if (!not_yet(id)) tables.insert(id);
  }
  after->manifest_requests.insert({i, key, m.version, x, std::move(tables), logs});
  ++after->counts.flushes;
  return true;
}

bool OwnershipLog::land_manifest(const State& now, const Step& step, State* after) const {
  if (step.request >= now.manifest_requests.size()) return false;
  const ManifestRequest& g = now.manifest_requests.at(step.request);
  const LogManifest& m = now.manifest(g.key);
  if (m.version != g.base || m.sealed) return false;
  if (after == nullptr) return true;

  after->manifest(g.key) = {g.base + 1, false, g.tables, g.logs};
  after->manifest_requests.erase_if([&](const ManifestRequest& h) { return h.key == g.key; });
  return true;
}

bool OwnershipLog::trim(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  if (on(Switch::v_trimSteps) || now.of(i).stopped || now.of(i).objects.empty()) return false;
  const int seq = trim_candidate(now, i, trim_bound(now, i));
  if (seq < 0) return false;
  if (after != nullptr) after->of(i).set_object(seq, LogObject::kNone);
  return true;
}

bool OwnershipLog::trim_note(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const LogIncarnation& own = now.of(i);
  if (!on(Switch::v_trimSteps) || own.stopped || own.trimming.at != Trimming::At::kIdle) {
    return false;
  }
  if (own.acknowledged() == 0 && !on(Switch::trimNoCap)) return false;
  if (after == nullptr) return true;

  int bound = c_.max_seq;
  if (!on(Switch::trimPinsLast)) {
    for (const int pin : pins(now, i)) bound = std::min(bound, pin);
    if (!on(Switch::trimNoCap)) bound = std::min(bound, own.acknowledged());
  }
  after->of(i).trimming = {Trimming::At::kNoted, bound, {}};
  return true;
}

bool OwnershipLog::trim_read_topology(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  if (now.of(i).trimming.at != Trimming::At::kNoted) return false;
  if (after == nullptr) return true;

  Trimming& trimming = after->of(i).trimming;
  trimming.at = Trimming::At::kReadTopology;
  for (int x = 1; x <= now.shard_count(); ++x) {
    trimming.keys.insert(now.row(x).key);
    if (now.serves(i, x) != 0) trimming.keys.insert(now.serves(i, x));
  }
  return true;
}

bool OwnershipLog::trim_read_manifests(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const Trimming& was = now.of(i).trimming;
  if (was.at != Trimming::At::kReadTopology) return false;
  if (after == nullptr) return true;

  int bound = was.bound;
  if (on(Switch::trimPinsLast)) {
    for (const int pin : pins(now, i)) bound = std::min(bound, pin);
  }
  if (on(Switch::trimPinsLast) || on(Switch::trimNoCap)) {
    bound = std::min(bound, now.of(i).acknowledged());
  }
  for (const int key : was.keys) {
    for (const LogEntry& e : now.manifest(key).logs) {
      if (e.incarnation == i) bound = std::min(bound, e.from);
    }
  }
  after->of(i).trimming = {Trimming::At::kDelete, bound, {}};
  return true;
}

bool OwnershipLog::trim_delete(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const LogIncarnation& own = now.of(i);
  if (own.trimming.at != Trimming::At::kDelete || own.objects.empty()) return false;
  const int seq = trim_candidate(now, i, own.trimming.bound);
  if (seq < 0) return false;
  if (after != nullptr) after->of(i).set_object(seq, LogObject::kNone);
  return true;
}

bool OwnershipLog::trim_end(const State& now, const Step& step, State* after) const {
  if (now.of(step.incarnation).trimming.at != Trimming::At::kDelete) return false;
  if (after != nullptr) after->of(step.incarnation).trimming = {};
  return true;
}

bool OwnershipLog::stop(const State& now, const Step& step, State* after) const {
  const LogIncarnation& own = now.of(step.incarnation);
  if (now.counts.fences >= c_.max_fences || own.stopped || own.sent.empty()) return false;
  if (own.acknowledged() != own.next() && !on(Switch::stopNoWait)) return false;
  if (after == nullptr) return true;

  LogIncarnation& next = after->of(step.incarnation);
  next.stopped = true;
  next.serves.assign(next.serves.size(), 0);
  next.handing = {};
  ++after->counts.fences;
  return true;
}

bool OwnershipLog::land_stop_fence(const State& now, const Step& step, State* after) const {
  const LogIncarnation& own = now.of(step.incarnation);
  if (!own.stopped || own.object(own.next()) != LogObject::kNone) return false;
  if (after != nullptr) after->of(step.incarnation).set_object(own.next(), LogObject::kFence);
  return true;
}

bool OwnershipLog::reopen(const State& now, const Step& step, State* after) const {
  const auto [i, x] = std::pair(step.incarnation, step.shard);
  const LogIncarnation& own = now.of(i);
  if (now.counts.reopens >= c_.max_reopens || own.stopped || now.row(x).owner != i) return false;
  if (!now.named(x).sealed) return false;
  if (own.handing.at != Handing::At::kIdle && own.handing.shard == x) return false;
  if (waits_for_topology(now, i, x)) return false;
  if (after == nullptr) return true;

  LogManifest copy = now.named(x);
  copy.sealed = false;
  copy.version = 0;
  after->manifests.push_back(std::move(copy));
  const int key = static_cast<int>(after->manifests.size());
  after->topology_requests.insert({i, now.topology_version, {{x, key, now.row(x).epoch + 1, i}}});
  ++after->counts.reopens;
  return true;
}

}  // namespace morula::spec
