#include "invariants/reachable.hpp"

#include <algorithm>
#include <utility>

#include "core/cell/cell_document.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants {

namespace {

std::string range_text(const ManifestLog& log) {
  return log.incarnation.text() + " [" + std::to_string(log.from.value) + ", " +
         (log.to ? std::to_string(log.to->value) : std::string("open")) + ")";
}

}  // namespace

Reachable::Reachable(const ObjectView& objects, DecodedDocuments& documents, Violations& violations)
    : objects_(objects),
      documents_(documents),
      violations_(violations),
      steps_(
          [&objects, &documents](const std::string& key) {
            const std::string* body = objects.find(key);
            auto manifest = documents.manifest(body == nullptr ? std::string_view() : *body);
            return manifest ? *std::move(manifest) : nullptr;
          },
          violations) {}

void Reachable::written(std::string_view key, Duration now) {
  if (key.starts_with("log/")) return log_written(key);
  if (key == keys::kTopology) return read_topology(now);
  if (key == keys::kCell) {
    auto cell = decode_cell(*objects_.find(key));
    if (cell) window_ = cell->window;
    return;
  }
  auto named = manifests_.find(key);
  if (named != manifests_.end()) read_manifest(named->first, now);
}

void Reachable::read_topology(Duration now) {
  auto decoded = documents_.topology(*objects_.find(keys::kTopology));
  if (!decoded) {
    violations_.report(
        Invariant::kNothingDangling, now,
        "topology.json was replaced by something that is no topology: " + decoded.error().message);
    return;
  }
  const Topology& next = **decoded;
  if (topology_ && next.version <= topology_->version) {
    violations_.report(Invariant::kOwnershipRule, now,
                       "topology.json went from version " +
                           std::to_string(topology_->version.value) + " to " +
                           std::to_string(next.version.value) + ": a version never repeats");
  }
  if (topology_) steps_.step(*topology_, next, now);
  topology_ = *std::move(decoded);
  std::set<std::string> named;
  for (const TopologyShard& shard : topology_->shards) named.insert(shard.manifest);
  for (auto it = manifests_.begin(); it != manifests_.end();) {
    if (named.contains(it->first)) {
      ++it;
      continue;
    }
    check_sealed(it->first, now);
    it = manifests_.erase(it);
  }
  for (const std::string& key : named) read_manifest(key, now);
}

void Reachable::check_sealed(const std::string& key, Duration now) {
  const std::string* body = objects_.find(key);
  if (body == nullptr) return;  // reported when it went
  auto manifest = documents_.manifest(*body);
  if (manifest && (*manifest)->sealed) return;
  violations_.report(Invariant::kOwnershipRule, now,
                     "topology version " + std::to_string(topology_->version.value) + " by " +
                         topology_->writer.text() + " no longer names " + key +
                         ", which is not sealed: its owner can still change it (R0, R3b)");
}

void Reachable::read_manifest(const std::string& key, Duration now) {
  const std::string* body = objects_.find(key);
  if (body == nullptr) {
    violations_.report(Invariant::kNothingDangling, now,
                       "the topology (version " + std::to_string(topology_->version.value) +
                           ") names " + key + ", which does not exist");
    return;
  }
  const auto decoded = documents_.manifest(*body);
  if (!decoded) {
    violations_.report(Invariant::kNothingDangling, now,
                       key + " is no manifest: " + decoded.error().message);
    return;
  }
  const Manifest& manifest = **decoded;
  const auto before = manifests_.find(key);
  if (before != manifests_.end() && before->second->sealed &&
      before->second->version != manifest.version) {
    violations_.report(Invariant::kOwnershipRule, now,
                       key + " was sealed, and was changed by " + manifest.writer.text() +
                           " all the same: who comes next goes by what it was (R0)");
  }
  check_manifest(key, manifest, now);
  check_row(key, manifest, now);
  for (const ManifestLog& log : manifest.logs) {
    std::vector<ManifestLog>& closed = closed_[log.incarnation];
    bool is_known = std::find(closed.begin(), closed.end(), log) != closed.end();
    if (log.to && !is_known) closed.push_back(log);
  }
  manifests_[key] = *decoded;
}

void Reachable::check_row(const std::string& key, const Manifest& manifest, Duration now) {
  for (const TopologyShard& shard : topology_->shards) {
    if (shard.manifest != key) continue;
    for (const ManifestLog& log : manifest.logs) {
      bool listed =
          log.incarnation == shard.owner ||
          std::find(shard.logs.begin(), shard.logs.end(), log.incarnation) != shard.logs.end();
      if (listed) continue;
      violations_.report(Invariant::kOwnershipRule, now,
                         key + " names the log of " + log.incarnation.text() +
                             ", which the row of shard " + shard.prefix.text() +
                             " in topology version " + std::to_string(topology_->version.value) +
                             " does not list: its owner would trim it (R7)");
    }
  }
}

void Reachable::check_manifest(const std::string& key, const Manifest& manifest, Duration now) {
  for (const ManifestTable& table : manifest.tables) {
    if (objects_.find(table.key) != nullptr) continue;
    violations_.report(Invariant::kNothingDangling, now,
                       key + " version " + std::to_string(manifest.version.value) + " by " +
                           manifest.writer.text() + " names the table " + table.key +
                           ", which does not exist");
  }
  for (const ManifestLog& log : manifest.logs) check_log(key, log, now);
}

void Reachable::check_log(const std::string& key, const ManifestLog& log, Duration now) {
  auto acknowledged = acknowledged_.find(log.incarnation);
  LogSeq end =
      log.to ? *log.to : (acknowledged == acknowledged_.end() ? LogSeq(0) : acknowledged->second);
  for (LogSeq seq = log.from; seq < end; ++seq) {
    if (objects_.find(keys::log_object(log.incarnation, seq)) != nullptr) continue;
    violations_.report(Invariant::kNothingDangling, now,
                       key + " names the log range " + range_text(log) + ", of which object " +
                           std::to_string(seq.value) +
                           (log.to ? " does not exist" : ", acknowledged, does not exist"));
    return;
  }
}

void Reachable::log_written(std::string_view key) {
  const auto object = keys::parse(key);
  if (!object) return;
  LogSeq& end = landed_[object->incarnation];
  end = std::max(end, object->seq + 1);
}

void Reachable::fenced(const IncarnationId& incarnation, LogSeq seq, std::string_view taker,
                       Duration now) {
  fences_.insert({incarnation, seq});
  LogSeq end = landed_[incarnation];
  if (!window_ || end <= seq + *window_) return;
  violations_.report(Invariant::kOwnershipRule, now,
                     std::string(taker) + " takes the log of " + incarnation.text() +
                         " for fenced at " + std::to_string(seq.value) + ", but object " +
                         std::to_string(end.value - 1) + " has landed: that is beyond the window" +
                         " of " + std::to_string(*window_) + " (R3a)");
}

void Reachable::removed(std::string_view key, Purpose purpose, Duration now) {
  if (key.starts_with("log/")) return log_removed(key, purpose, now);
  auto dangling = [&](std::string_view by) {
    violations_.report(Invariant::kNothingDangling, now,
                       std::string(key) + " was deleted, but " + std::string(by) + " names it");
  };
  if (manifests_.contains(key)) dangling("the topology");
  for (const auto& [name, manifest] : manifests_) {
    bool names_it = std::any_of(manifest->tables.begin(), manifest->tables.end(),
                                [&](const ManifestTable& table) { return table.key == key; });
    if (names_it) dangling(name);
  }
}

void Reachable::log_removed(std::string_view key, Purpose purpose, Duration now) {
  const auto object = keys::parse(key);
  if (!object) return;
  const IncarnationId& incarnation = object->incarnation;
  const LogSeq seq = object->seq;
  for (const auto& [name, manifest] : manifests_) {
    for (const ManifestLog& log : manifest->logs) {
      if (log.incarnation != incarnation || seq < log.from || (log.to && seq >= *log.to)) continue;
      violations_.report(
          Invariant::kNothingDangling, now,
          std::string(key) + " was deleted, but " + name + " names " + range_text(log));
    }
  }
  if (fences_.contains({incarnation, seq})) {
    violations_.report(Invariant::kOwnershipRule, now,
                       std::string(key) + " was deleted, but is a FENCE (R8)");
  }
  if (purpose == Purpose::kGc) {
    collected_.insert({incarnation, seq});
    if (has_fence(incarnation)) return;
    violations_.report(Invariant::kOwnershipRule, now,
                       std::string(key) + " was collected, but its log has no fence (R8)");
  }
  // A late copy of a PUT can bring a trimmed object back; it may go at any time.
  LogSeq& trimmed = trimmed_[incarnation];
  if (seq < trimmed) return;
  trimmed = seq + 1;
  check_window(key, incarnation, seq, now);
}

bool Reachable::has_fence(const IncarnationId& incarnation) const {
  const auto first = fences_.lower_bound({incarnation, LogSeq(0)});
  return first != fences_.end() && first->first == incarnation;
}

/// The last W landed objects begin W below the highest one.
void Reachable::check_window(std::string_view key, const IncarnationId& incarnation, LogSeq seq,
                             Duration now) {
  if (!window_) return;
  for (uint64_t above = 1; above <= *window_; ++above) {
    if (objects_.find(keys::log_object(incarnation, seq + above)) != nullptr) continue;
    // A zombie whose log was collected may trim what a late copy has brought back.
    if (was_collected(incarnation, seq + above)) continue;
    violations_.report(Invariant::kOwnershipRule, now,
                       std::string(key) + " was deleted, but is one of the last " +
                           std::to_string(*window_) + " landed objects of that log: " +
                           std::to_string(seq.value + above) + " does not exist (R7)");
    return;
  }
}

void Reachable::acknowledged(const IncarnationId& incarnation, LogSeq position) {
  LogSeq& known = acknowledged_[incarnation];
  known = std::max(known, position);
}

void Reachable::check_all(Duration now) {
  if (!topology_) return;
  for (const auto& [key, manifest] : manifests_) check_manifest(key, *manifest, now);
}

bool Reachable::names(StreamId stream, const IncarnationId& incarnation, LogSeq seq) const {
  auto covers = [&](const ManifestLog& log) {
    return log.incarnation == incarnation && log.clip.contains(stream) && seq >= log.from &&
           (!log.to || seq < *log.to);
  };
  auto closed = closed_.find(incarnation);
  if (closed != closed_.end() &&
      std::any_of(closed->second.begin(), closed->second.end(), covers)) {
    return true;
  }
  if (!topology_) return false;
  auto manifest = manifests_.find(topology_->shard_of(stream).manifest);
  if (manifest == manifests_.end()) return false;
  return std::ranges::any_of(manifest->second->logs, covers);
}

std::string Reachable::describe(StreamId stream) const {
  if (!topology_) return "there is no topology";
  const TopologyShard& shard = topology_->shard_of(stream);
  std::string out = "shard " + shard.prefix.text() + " is owned by " + shard.owner.text() +
                    " (topology version " + std::to_string(topology_->version.value) +
                    "), whose manifest names";
  auto manifest = manifests_.find(shard.manifest);
  if (manifest == manifests_.end()) return out + " what cannot be read";
  for (const ManifestLog& log : manifest->second->logs) out += " " + range_text(log);
  return out;
}

}  // namespace morula::invariants
