// How shards go from one owner to another, and how they are split and merged.
#include <algorithm>

#include "invariants/spec/topology.hpp"

namespace morula::spec {

namespace {

Set<ClippedEntry> closed_at(const Set<ClippedEntry>& logs, int incarnation, int end) {
  Set<ClippedEntry> closed;
  for (ClippedEntry e : logs) {
    if (e.incarnation == incarnation && e.to == kOpen) e.to = end;
    if (e.from < e.to) closed.insert(e);
  }
  return closed;
}

void seal(TopologyState& s, int key) {
  s.manifest(key).sealed = true;
  ++s.manifest(key).version;
  s.manifest_requests.erase_if([&](const ClippedManifestRequest& h) { return h.key == key; });
}

int add_manifest(TopologyState& s, ClippedManifest m) {
  s.manifests.push_back(std::move(m));
  return static_cast<int>(s.manifests.size());
}

}  // namespace

bool Topology::fence(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const TopologyIncarnation& own = now.of(i);
  if (own.fenced_at != -1 || now.counts.takeovers >= c_.max_takeovers) return false;
  const bool owns = now.rows.any([&](const PrefixRow& row) { return row.owner == i; });
  if (!owns && own.log.empty()) return false;
  if (after != nullptr) after->of(i).fenced_at = own.next();
  return true;
}

void Topology::adopt_into(const State& now, State& after, int taker,
                          const Set<HashPrefix>& shards) const {
  PrefixRequest request{taker, now.version, shards, false, {}};
  for (const HashPrefix& prefix : shards) {
    const PrefixRow& row = *now.row(prefix);
    const ClippedManifest& m = now.manifest(row.key);
    if (!on(Switch::noSeal)) seal(after, row.key);
    ClippedManifest adopted{0, false, m.tables, {}, m.mark};
    adopted.logs = closed_at(m.logs, row.owner, now.of(row.owner).fenced_at);
    adopted.logs.insert({prefix, taker, now.of(taker).next(), kOpen});
    Set<int> named = row_logs(now, adopted.logs, taker, {prefix});
    const int key = add_manifest(after, std::move(adopted));
    request.adds.insert({prefix, row.epoch + 1, taker, key, std::move(named)});
  }
  after.topology_requests.insert(std::move(request));
  ++after.counts.takeovers;
}

bool Topology::adopt(const State& now, const Step& step, State* after) const {
  const PrefixRow* row = now.row(step.prefix);
  if (now.counts.takeovers >= c_.max_takeovers || row == nullptr) return false;
  if (row->owner == step.incarnation || now.of(row->owner).fenced_at == -1) return false;
  if (after != nullptr) adopt_into(now, *after, step.incarnation, {step.prefix});
  return true;
}

bool Topology::adopt_both(const State& now, const Step& step, State* after) const {
  if (!on(Switch::v_takeBoth) || now.counts.takeovers >= c_.max_takeovers) return false;
  const HashPrefix left = HashPrefix{}.child(0);
  const HashPrefix right = HashPrefix{}.child(1);
  if (now.row(left) == nullptr || now.row(right) == nullptr) return false;
  const int owner = now.row(left)->owner;
  if (now.row(right)->owner != owner || owner == step.incarnation) return false;
  if (now.of(owner).fenced_at == -1) return false;
  if (after != nullptr) adopt_into(now, *after, step.incarnation, {left, right});
  return true;
}

bool Topology::publish(const State& now, const Step& step, State* after) const {
  if (step.request >= now.topology_requests.size()) return false;
  const PrefixRequest& g = now.topology_requests.at(step.request);
  if (g.base != now.version && !on(Switch::noTopoCheck)) return false;
  if (after == nullptr) return true;

  ++after->version;
  const auto replaced = [&](const PrefixRow& row) {
    return g.removes.contains(row.prefix) ||
           g.adds.any([&](const PrefixRow& added) { return added.prefix == row.prefix; });
  };
  after->rows.erase_if(replaced);
  after->rows.insert(g.adds);
  after->promises.clear();  // the base version of every pin is past
  if (on(Switch::noTopoCheck)) {
    after->topology_requests.erase(g);
    return true;
  }
  // What the others would have published can be forgotten.
  for (const PrefixRequest& h : now.topology_requests) {
    if (h == g) continue;
    for (const PrefixRow& row : h.adds) after->manifest(row.key) = {0, true, {}, {}, 0};
  }
  after->topology_requests.clear();
  return true;
}

bool Topology::replay(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  Set<ServedPrefix> mine;
  for (const PrefixRow& row : now.rows) {
    if (row.owner != i || !now.manifest(row.key).open_for(i)) continue;
    const auto handing = [&](const PrefixRequest& g) {
      return g.handoff && g.by == i && g.removes.contains(row.prefix) && !on(Switch::resumeEarly);
    };
    if (!now.topology_requests.any(handing)) mine.insert({row.prefix, row.key});
  }
  if (mine == now.of(i).serves) return false;
  if (after == nullptr) return true;

  after->of(i).serves = mine;
  for (int x = 0; x < points(); ++x) {
    if (serves_point(now, i, x)) continue;
    for (const ServedPrefix& served : mine) {
      if (!served.prefix.contains(at(x))) continue;
      after->of(i).highest[static_cast<size_t>(x)] = recovered(now, now.manifest(served.key), x);
      break;
    }
  }
  return true;
}

bool Topology::accept(const State& now, const Step& step, State* after) const {
  const auto [i, j] = std::pair(step.incarnation, step.other);
  if (now.counts.handoffs >= c_.max_handoffs || i == j || now.of(i).handing.sealed) return false;
  const ServedPrefix* served = now.serves(i, step.prefix);
  const PrefixRow* row = now.row(step.prefix);
  if (served == nullptr || row == nullptr || row->key != served->key) return false;
  if (now.manifest(row->key).sealed) return false;
  if (after == nullptr) return true;

  const int position = now.of(j).next();
  after->of(i).handing = {true, step.prefix, row->key, now.version, j, position};
  after->promises.insert({j, position, now.version});
  if (!on(Switch::handNoSeal)) seal(*after, row->key);
  ++after->counts.handoffs;
  return true;
}

bool Topology::hand_off(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const PrefixHanding& handing = now.of(i).handing;
  if (!handing.sealed || now.version != handing.version) return false;
  const ServedPrefix served{handing.prefix, handing.key};
  if (!now.of(i).serves.contains(served)) return false;
  if (after == nullptr) return true;

  const PrefixRow& row = *now.row(handing.prefix);
  const ClippedManifest& m = now.manifest(handing.key);
  ClippedManifest handed{0, false, m.tables, closed_at(m.logs, i, now.of(i).next()), m.mark};
  handed.logs.insert({handing.prefix, handing.to, handing.position, kOpen});
  Set<int> named = row_logs(now, handed.logs, handing.to, {handing.prefix});
  const int key = add_manifest(*after, std::move(handed));
  after->topology_requests.insert(
      {i,
       now.version,
       {handing.prefix},
       true,
       {{handing.prefix, row.epoch + 1, handing.to, key, std::move(named)}}});
  after->of(i).serves.erase(served);
  after->of(i).handing = {};
  return true;
}

bool Topology::hand_abort(const State& now, const Step& step, State* after) const {
  if (!now.of(step.incarnation).handing.sealed) return false;
  if (after != nullptr) after->of(step.incarnation).handing = {};
  return true;
}

bool Topology::split(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const ServedPrefix* served = now.serves(i, step.prefix);
  const PrefixRow* row = now.row(step.prefix);
  if (now.counts.splits >= c_.max_splits || step.prefix.length >= c_.space_bits) return false;
  if (served == nullptr || row == nullptr || row->key != served->key) return false;
  if (after == nullptr) return true;

  const ClippedManifest& m = now.manifest(row->key);
  if (!on(Switch::d_splitNoSeal) && !on(Switch::splitNoHold)) seal(*after, row->key);
  PrefixRequest request{i, now.version, {step.prefix}, false, {}};
  for (const int bit : {0, 1}) {
    const HashPrefix child = step.prefix.child(bit);
    ClippedManifest part = narrowed(m, child);
    Set<int> named = row_logs(now, part.logs, i, {step.prefix});
    const int key = add_manifest(*after, std::move(part));
    request.adds.insert({child, row->epoch + 1, i, key, std::move(named)});
  }
  after->topology_requests.insert(std::move(request));
  ++after->counts.splits;
  return true;
}

bool Topology::merge(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const HashPrefix left = step.prefix.child(0);
  const HashPrefix right = step.prefix.child(1);
  if (now.counts.merges >= c_.max_merges) return false;
  int epoch = 0;
  for (const HashPrefix& prefix : {left, right}) {
    const ServedPrefix* served = now.serves(i, prefix);
    const PrefixRow* row = now.row(prefix);
    if (served == nullptr || row == nullptr || row->key != served->key) return false;
    epoch = std::max(epoch, row->epoch);
  }
  if (after == nullptr) return true;

  ClippedManifest merged{0, false, {}, {}, 0};
  for (const HashPrefix& prefix : {left, right}) {
    const int key = now.row(prefix)->key;
    const ClippedManifest& m = now.manifest(key);
    merged.mark = std::max(merged.mark, m.mark);
    for (ClippedTable table : m.tables) {
      if (on(Switch::mergeNoClipSst)) table.clip = step.prefix;
      merged.tables.insert(table);
    }
    for (ClippedEntry e : m.logs) {
      if (on(Switch::mergeNoClipLog)) e.clip = step.prefix;
      merged.logs.insert(e);
    }
    if (!on(Switch::mergeNoSeal)) seal(*after, key);
  }
  Set<int> named = row_logs(now, merged.logs, i, {left, right});
  const int key = add_manifest(*after, std::move(merged));
  after->topology_requests.insert(
      {i, now.version, {left, right}, false, {{step.prefix, epoch + 1, i, key, std::move(named)}}});
  ++after->counts.merges;
  return true;
}

bool Topology::reopen(const State& now, const Step& step, State* after) const {
  const int i = step.incarnation;
  const PrefixRow* row = now.row(step.prefix);
  if (now.counts.reopens >= c_.max_reopens || row == nullptr || row->owner != i) return false;
  const ClippedManifest& m = now.manifest(row->key);
  if (!m.sealed || holds_structure(now, i, step.prefix)) return false;
  if (now.of(i).handing.sealed && now.of(i).handing.prefix == step.prefix) return false;
  if (after == nullptr) return true;

  ClippedManifest copy = m;
  copy.sealed = false;
  copy.version = 0;
  Set<int> named = row_logs(now, copy.logs, i, {step.prefix});
  const int key = add_manifest(*after, std::move(copy));
  after->topology_requests.insert({i,
                                   now.version,
                                   {step.prefix},
                                   false,
                                   {{step.prefix, row->epoch + 1, i, key, std::move(named)}}});
  ++after->counts.reopens;
  return true;
}

}  // namespace morula::spec
