#include "core/topology/takeover.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/lsm/manifest_succession.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

namespace {

constexpr size_t kSealsAtOnce = 16;

}  // namespace

Takeover::Takeover(const Env& env, const RetryConfig& retry, LogWriter& log)
    : env_(env), retry_(retry), log_(log), change_(env, retry, log.incarnation()) {}

Result<std::vector<AdoptedShard>> Takeover::run(const IncarnationId& victim, LogSeq fence,
                                                const Part& part) {
  Duration backoff = retry_.backoff_min;
  Manifests manifests;
  while (true) {
    auto base = read_topology(env_, retry_);
    MORULA_TRY(base);
    if (!*base) return fail(ErrorCode::kCorrupt, "topology.json is gone");
    const Topology& topology = (*base)->content;
    std::vector<TopologyShard> rows;
    std::vector<Prefix> prefixes;
    for (const TopologyShard& row : topology.shards) {
      if (row.owner != victim || (part && !part(topology, row))) continue;
      if (manifests.absent.contains(row.manifest)) {
        tell_lost(row);
        continue;
      }
      rows.push_back(row);
      prefixes.push_back(row.prefix);
    }
    if (rows.empty()) return std::vector<AdoptedShard>{};
    const auto all = seal_all(rows, manifests);
    MORULA_TRY(all);
    if (*all) {
      auto adopted = Adopt(rows, manifests.sealed, victim, fence, topology.version);
      MORULA_TRY(adopted);
      auto outcome = change_.Publish(**base, prefixes, *adopted);
      MORULA_TRY(outcome);
      if (!outcome->landed && mutated(Mutant::publish_on_later_version)) {
        const auto later = read_topology(env_, retry_);
        MORULA_TRY(later);
        outcome = change_.Publish(**later, prefixes, *adopted);
        MORULA_TRY(outcome);
      }
      if (outcome->landed) {
        note_published(*adopted, topology.version + 1);
        return std::move(*adopted);
      }
    }
    env_.trace.sometimes("a takeover lost its topology CAS", true);
    env_.clock.sleep(Duration(env_.random.between(backoff.count() / 2, backoff.count())));
    backoff = std::min(backoff * 2, retry_.backoff_max);
  }
}

Result<bool> Takeover::seal_all(const std::vector<TopologyShard>& rows, Manifests& manifests) {
  bool all = true;
  const auto done = for_each_concurrently(rows.size(), kSealsAtOnce, [&](size_t i) -> Result<> {
    const std::string& key = rows[i].manifest;
    if (manifests.sealed.contains(key)) return {};
    auto manifest = Seal(rows[i]);
    MORULA_TRY(manifest);
    if (!*manifest) {
      all = false;
      manifests.absent.insert(key);
    } else {
      manifests.sealed.emplace(key, **std::move(manifest));
    }
    return {};
  });
  MORULA_TRY(done);
  return all;
}

void Takeover::tell_lost(const TopologyShard& row) {
  if (!told_lost_.insert(row.manifest).second) return;
  env_.trace.log(Severity::kError, "manifest_lost",
                 {{"shard", row.prefix.text()}, {"key", row.manifest}});
}

// Step Seal
Result<std::optional<Manifest>> Takeover::Seal(const TopologyShard& row) {
  while (true) {
    auto found = read_document(env_, row.manifest, Purpose::kOwnership, retry_, decode_manifest);
    MORULA_TRY(found);
    if (!*found) return std::nullopt;
    if ((*found)->content.sealed || mutated(Mutant::skip_seal)) return (*found)->content;
    Manifest sealed = next_version(env_, (*found)->content, log_.incarnation());
    sealed.sealed = true;
    auto outcome = swap_object(env_, row.manifest, make_blob(encode_manifest(sealed)),
                               (*found)->etag, Purpose::kOwnership, retry_);
    MORULA_TRY(outcome);
    env_.trace.sometimes("a seal met its owner's flush", !outcome->landed);
    if (outcome->landed) {
      env_.trace.step(
          {Step::kSeal, log_.incarnation().text(), row.manifest, 0, sealed.version.value});
      return sealed;
    }
  }
}

// Only now, with all seals answered, may the own entries' beginning be taken.
// Step Adopt
Result<std::vector<AdoptedShard>> Takeover::Adopt(const std::vector<TopologyShard>& rows,
                                                  const SealedManifests& sealed,
                                                  const IncarnationId& victim, LogSeq fence,
                                                  Version base) {
  std::vector<AdoptedShard> adopted;
  for (const TopologyShard& row : rows) {
    LogPin from =
        mutated(Mutant::adopt_position_too_low) ? log_.pin(log_.acknowledged()) : log_.pin_next();
    Manifest manifest = handed_over(sealed.at(row.manifest), row.prefix, victim, fence,
                                    log_.incarnation(), from.seq());
    manifest.wall_floor = std::max(manifest.wall_floor, log_.wall_floor());
    adopted.push_back({row.prefix,
                       next_epoch(row.epoch),
                       log_.incarnation(),
                       {},
                       {std::move(manifest), {}},
                       std::move(from)});
  }
  MORULA_TRY(change_.put_manifests(adopted, base));
  for (const AdoptedShard& shard : adopted) {
    env_.trace.step({Step::kAdopt, log_.incarnation().text(), shard.manifest_key,
                     shard.from.seq().value, base.value});
  }
  return adopted;
}

// Step Publish
void Takeover::note_published(const std::vector<AdoptedShard>& shards, Version version) const {
  for (const AdoptedShard& shard : shards) {
    env_.trace.step({Step::kPublish, log_.incarnation().text(), shard.prefix.text(),
                     shard.epoch.value, version.value});
  }
}

Result<std::vector<AdoptedShard>> Takeover::create_first_topology(uint8_t bits) {
  const IncarnationId& self = log_.incarnation();
  std::vector<AdoptedShard> first;
  for (uint16_t i = 0; i < (1u << bits); ++i) {
    const Prefix prefix{i, bits};
    LogPin from = log_.pin_next();
    Manifest manifest;
    manifest.logs.push_back({prefix, self, from.seq(), std::nullopt});
    first.push_back({prefix, Epoch(1), self, {}, {std::move(manifest), {}}, std::move(from)});
  }
  MORULA_TRY(change_.put_manifests(first, Version(0)));
  Topology topology = next_version(env_, Topology{}, self);
  for (const AdoptedShard& shard : first) {
    env_.trace.step({Step::kAdopt, self.text(), shard.manifest_key, shard.from.seq().value, 0});
    topology.shards.push_back({shard.prefix, shard.epoch, self, shard.manifest_key,
                               row_logs(shard.manifest.content, self)});
  }
  auto outcome = create_object(env_, keys::kTopology, make_blob(encode_topology(topology)),
                               Purpose::kOwnership, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed) return std::vector<AdoptedShard>{};
  note_published(first, topology.version);
  return first;
}

}  // namespace morula
