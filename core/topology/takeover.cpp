#include "core/topology/takeover.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"

namespace morula {

Takeover::Takeover(const Env& env, const RetryConfig& retry, LogWriter& log)
    : env_(env), retry_(retry), log_(log) {}

Result<std::vector<AdoptedShard>> Takeover::run(const IncarnationId& victim, LogSeq fence) {
  Duration backoff = retry_.backoff_min;
  while (true) {
    auto base = read_topology(env_, retry_);
    MORULA_TRY(base);
    if (!*base) return fail(ErrorCode::kCorrupt, "topology.json is gone");
    std::vector<TopologyShard> owned;
    std::vector<Manifest> sealed;
    for (const TopologyShard& shard : (*base)->content.shards) {
      if (shard.owner != victim) continue;
      auto manifest = Seal(shard);
      MORULA_TRY(manifest);
      owned.push_back(shard);
      sealed.push_back(std::move(manifest->content));
    }
    if (owned.empty()) return std::vector<AdoptedShard>{};

    // Only now, with all seals answered, may the own entries' beginning be taken.
    Attempt attempt{{}, next_version(env_, (*base)->content, log_.incarnation())};
    for (size_t i = 0; i < owned.size(); ++i) {
      auto adopted = Adopt(owned[i], sealed[i], victim, fence, (*base)->content.version);
      MORULA_TRY(adopted);
      attempt.shards.push_back(std::move(*adopted));
    }
    auto published = Publish(**base, attempt);
    MORULA_TRY(published);
    if (*published) return std::move(attempt.shards);
    env_.trace.sometimes("a takeover lost its topology CAS", true);
    env_.clock.sleep(Duration(env_.random.between(backoff.count() / 2, backoff.count())));
    backoff = std::min(backoff * 2, retry_.backoff_max);
  }
}

// Step Seal
Result<Versioned<Manifest>> Takeover::Seal(const TopologyShard& shard) {
  while (true) {
    auto found = read_manifest(env_, shard.manifest, retry_);
    MORULA_TRY(found);
    if (found->content.sealed || mutated(Mutant::skip_seal)) return found;
    Manifest sealed = next_version(env_, found->content, log_.incarnation());
    sealed.sealed = true;
    auto outcome = swap_object(env_, shard.manifest, make_blob(encode_manifest(sealed)),
                               found->etag, Purpose::kOwnership, retry_);
    MORULA_TRY(outcome);
    env_.trace.sometimes("a seal met its owner's flush", !outcome->landed);
    if (outcome->landed) {
      env_.trace.step(
          {Step::kSeal, log_.incarnation().text(), shard.manifest, 0, sealed.version.value});
      return Versioned<Manifest>{std::move(sealed), outcome->etag};
    }
  }
}

// Step Adopt
Result<AdoptedShard> Takeover::Adopt(const TopologyShard& shard, const Manifest& sealed,
                                     const IncarnationId& victim, LogSeq fence, Version base) {
  LogPin from =
      mutated(Mutant::adopt_position_too_low) ? log_.pin(log_.acknowledged()) : log_.pin_next();
  Manifest manifest = sealed;
  manifest.version = Version(0);
  manifest.sealed = false;
  for (ManifestLog& log : manifest.logs) {
    if (log.incarnation == victim && !log.to) log.to = std::max(log.from, fence);
  }
  std::erase_if(manifest.logs,
                [](const ManifestLog& log) { return log.to && *log.to <= log.from; });
  manifest.logs.push_back({shard.prefix, log_.incarnation(), from.seq(), std::nullopt});
  manifest.wall_floor = std::max(manifest.wall_floor, log_.wall_floor());
  return put_manifest(shard.prefix, shard.epoch + 1, base, std::move(manifest), std::move(from));
}

Result<AdoptedShard> Takeover::put_manifest(Prefix prefix, Epoch epoch, Version base,
                                            Manifest manifest, LogPin from) {
  manifest = next_version(env_, std::move(manifest), log_.incarnation());
  const std::string key = keys::manifest(prefix, epoch, base, manifest.nonce);
  auto outcome =
      create_object(env_, key, make_blob(encode_manifest(manifest)), Purpose::kOwnership, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed) return fail(ErrorCode::kCorrupt, key + ": a fresh key was taken");
  const std::string self = log_.incarnation().text();
  env_.trace.step({Step::kAdopt, self, key, from.seq().value, base.value});
  return AdoptedShard{prefix, epoch, key, {std::move(manifest), outcome->etag}, std::move(from)};
}

// Step Publish
Result<bool> Takeover::Publish(const Versioned<Topology>& base, const Attempt& attempt) {
  Topology next = attempt.next;
  for (const AdoptedShard& adopted : attempt.shards) {
    for (TopologyShard& row : next.shards) {
      if (row.prefix != adopted.prefix) continue;
      row.epoch = adopted.epoch;
      row.owner = log_.incarnation();
      row.manifest = adopted.manifest_key;
      row.logs = row_logs(adopted.manifest.content, row.owner);
    }
  }
  auto outcome = swap_object(env_, keys::kTopology, make_blob(encode_topology(next)), base.etag,
                             Purpose::kOwnership, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed && mutated(Mutant::publish_on_later_version)) {
    outcome = swap_object(env_, keys::kTopology, make_blob(encode_topology(next)), outcome->etag,
                          Purpose::kOwnership, retry_);
    MORULA_TRY(outcome);
  }
  if (!outcome->landed) {
    // It may have landed and have been followed by somebody else's change: what is named counts.
    if (outcome->body == nullptr) return fail(ErrorCode::kCorrupt, "topology.json is gone");
    auto current = decode_topology(*outcome->body);
    MORULA_TRY(current);
    if (!names_all(*current, attempt.shards)) return false;
  }
  for (const AdoptedShard& adopted : attempt.shards) {
    env_.trace.step({Step::kPublish, log_.incarnation().text(), adopted.prefix.text(),
                     adopted.epoch.value, next.version.value});
  }
  return true;
}

bool Takeover::names_all(const Topology& topology, const std::vector<AdoptedShard>& shards) const {
  return std::all_of(shards.begin(), shards.end(), [&](const AdoptedShard& adopted) {
    const TopologyShard* row = topology.find(adopted.prefix);
    return row != nullptr && row->owner == log_.incarnation() &&
           row->manifest == adopted.manifest_key;
  });
}

Result<std::vector<AdoptedShard>> Takeover::create_first_topology(uint8_t bits) {
  Attempt attempt;
  attempt.next = next_version(env_, Topology{}, log_.incarnation());
  for (uint16_t i = 0; i < (1u << bits); ++i) {
    const Prefix prefix{i, bits};
    LogPin from = log_.pin_next();
    Manifest manifest;
    manifest.logs.push_back({prefix, log_.incarnation(), from.seq(), std::nullopt});
    auto adopted = put_manifest(prefix, Epoch(1), Version(0), std::move(manifest), std::move(from));
    MORULA_TRY(adopted);
    attempt.next.shards.push_back({prefix, Epoch(1), log_.incarnation(), adopted->manifest_key,
                                   row_logs(adopted->manifest.content, log_.incarnation())});
    attempt.shards.push_back(std::move(*adopted));
  }
  auto outcome = create_object(env_, keys::kTopology, make_blob(encode_topology(attempt.next)),
                               Purpose::kOwnership, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed) return std::vector<AdoptedShard>{};
  for (const AdoptedShard& adopted : attempt.shards) {
    env_.trace.step({Step::kPublish, log_.incarnation().text(), adopted.prefix.text(),
                     adopted.epoch.value, attempt.next.version.value});
  }
  return std::move(attempt.shards);
}

}  // namespace morula
