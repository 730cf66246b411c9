#include "core/fleet/collect.hpp"

#include <algorithm>
#include <utility>

#include "core/base/mutant.hpp"
#include "core/log/fence.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"
#include "core/store/remove_objects.hpp"
#include "core/topology/named_manifests.hpp"

namespace morula {

// The order is R8's: candidates, then member documents and fences, then the topology, then the
// manifests that it names, then the deletions.
// Step Collect
Result<std::optional<Collector::Collected>> Collector::Collect() {
  auto members = read_members();
  MORULA_TRY(members);
  const auto first = std::ranges::find_if(
      *members, [](const auto& member) { return member.second.state == MemberState::kLive; });
  if (first == members->end() || first->second.incarnation != self_) {
    return std::nullopt;
  }

  std::optional<Named> early;
  if (mutated(Mutant::gc_reads_manifests_before_topology)) {
    auto read = read_named();
    MORULA_TRY(read);
    early = std::move(*read);
  }
  const auto remains = list_remains();
  MORULA_TRY(remains);
  auto manifests = list_objects(env_, keys::kManifests, {}, Purpose::kGc, retry_);
  MORULA_TRY(manifests);
  // Again, and after the listing: whoever has written by then has joined before, so what a document
  // does not name is over.
  members = read_members();
  MORULA_TRY(members);
  // It does not know yet that it is over: its lease will tell.
  if (is_over(*members, self_) && !mutated(Mutant::gc_collects_when_over)) return std::nullopt;
  for (const auto& [incarnation, left] : *remains) {
    const bool dead = is_over(*members, incarnation);
    if (dead && (!left.log.empty() || !left.tables.empty())) {
      MORULA_TRY(fence(incarnation, *members));
    }
  }
  auto named = early ? Result<Named>(std::move(*early)) : read_named();
  MORULA_TRY(named);

  std::vector<ObjectInfo> garbage = replaced(std::move(*manifests), *named);
  for (const auto& [incarnation, left] : *remains) {
    add_garbage(incarnation, left, *members, *named, garbage);
  }
  if (garbage.empty()) return Collected{};
  Collected collected;
  std::vector<std::string> keys;
  for (ObjectInfo& object : garbage) {
    ++collected.objects;
    collected.bytes += object.size;
    keys.push_back(std::move(object.key));
  }
  MORULA_TRY(remove_objects(env_, keys, Purpose::kGc, retry_));
  env_.trace.step({.step = Step::kCollect, .actor = self_.text(), .position = collected.objects});
  return collected;
}

Result<Collector::Members> Collector::read_members() {
  auto documents = list_objects(env_, keys::kMembers, {}, Purpose::kGc, retry_);
  MORULA_TRY(documents);
  Members members;
  for (const ObjectInfo& document : *documents) {
    const auto name = keys::member_name(document.key);
    if (!name) continue;  // a foreign object is nobody
    auto member = read_document(env_, document.key, Purpose::kGc, retry_, decode_member);
    MORULA_TRY(member);
    if (*member) members.emplace(*name, std::move((*member)->content));
  }
  return members;
}

Result<std::map<IncarnationId, Collector::Remains>> Collector::list_remains() {
  std::map<IncarnationId, Remains> remains;
  for (const std::string_view folder : {keys::kLogs, keys::kTables}) {
    MORULA_TRY(for_each_object(env_, folder, {}, Purpose::kGc, retry_,
                               [&](const ObjectInfo& object) -> Result<> {
                                 const auto parsed = keys::parse(object.key);
                                 if (!parsed) return {};  // foreign
                                 const bool log = parsed->kind == keys::Parsed::Kind::kLogObject;
                                 const bool is_fence = log && object.size == kLogFenceBytes;
                                 if (is_fence && !mutated(Mutant::gc_deletes_fence)) return {};
                                 Remains& left = remains[parsed->incarnation];
                                 (log ? left.log : left.tables).push_back(object);
                                 return {};
                               }));
  }
  return remains;
}

Result<Collector::Named> Collector::read_named() {
  auto read = read_named_manifests(env_, retry_, Purpose::kGc);
  MORULA_TRY(read);
  // Without it everything would look like garbage.
  if (!*read) return fail(ErrorCode::kCorrupt, "topology.json is gone: nothing is collected");
  Named named;
  named.topology = (*read)->topology.version;
  for (const TopologyShard& row : (*read)->topology.shards) {
    named.owners.insert(row.owner);
    named.manifests.insert(row.manifest);
  }
  for (std::optional<Manifest>& manifest : (*read)->manifests) {
    for (const ManifestLog& log : manifest->logs) named.logs.insert(log.incarnation);
    for (ManifestTable& table : manifest->tables) named.tables.insert(std::move(table.key));
  }
  return named;
}

/// Of these manifests, those that no CAS can name any more: each was put for a CAS on the version
/// in its key.
std::vector<ObjectInfo> Collector::replaced(std::vector<ObjectInfo> manifests,
                                            const Named& named) const {
  std::erase_if(manifests, [&](const ObjectInfo& manifest) {
    const auto parsed = keys::parse(manifest.key);
    if (!parsed || parsed->kind != keys::Parsed::Kind::kManifest) return true;  // foreign
    const bool may_come =
        named.topology <= parsed->base_topology && !mutated(Mutant::gc_young_manifest);
    return may_come || named.manifests.contains(manifest.key);
  });
  return manifests;
}

/// A document is replaced only by the name's next incarnation, and only once it is over.
bool Collector::is_over(const Members& members, const IncarnationId& incarnation) const {
  const auto member = members.find(incarnation.name);
  if (member == members.end()) return false;  // nobody has said so
  return member->second.incarnation != incarnation || member->second.state != MemberState::kLive;
}

Result<> Collector::fence(const IncarnationId& incarnation, const Members& members) {
  if (fenced_.contains(incarnation)) return {};
  const Member& member = members.at(incarnation.name);
  if (member.state == MemberState::kStopped && mutated(Mutant::collect_unfenced_stopped)) return {};
  const LogSeq hint = member.incarnation == incarnation ? member.acknowledged : LogSeq(0);
  MORULA_TRY(fence_log(env_, self_, incarnation, hint, window_, retry_));
  fenced_.insert(incarnation);
  return {};
}

void Collector::add_garbage(const IncarnationId& incarnation, const Remains& remains,
                            const Members& members, const Named& named,
                            std::vector<ObjectInfo>& garbage) const {
  const bool over = is_over(members, incarnation);
  const bool dead = over && !named.owners.contains(incarnation);
  for (const ObjectInfo& table : remains.tables) {
    if (named.tables.contains(table.key)) continue;
    bool settled = dead;
    if (!over && members.contains(incarnation.name)) {
      const uint64_t number = keys::parse(table.key)->number;
      settled =
          number < members.at(incarnation.name).table_floor || mutated(Mutant::gc_young_table);
    }
    if (settled) garbage.push_back(table);
  }
  if (!dead || named.logs.contains(incarnation)) return;
  garbage.insert(garbage.end(), remains.log.begin(), remains.log.end());
}

}  // namespace morula
