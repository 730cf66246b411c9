#include "core/cell/membership.hpp"

#include "core/rt/network.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

Membership::Membership(const Env& env, const LeaseConfig& config, const RetryConfig& retry,
                       IncarnationId self)
    : env_(env), config_(config), retry_(retry), self_(std::move(self)) {}

MemberWatch& Membership::watch(const std::string& name) {
  return watches_.try_emplace(name, env_, config_, retry_, self_, name).first->second;
}

Result<bool> Membership::look_whether_alone() {
  auto documents = list_objects(env_, keys::kMembers, {}, Purpose::kHeartbeat, retry_);
  MORULA_TRY(documents);
  bool alone = true;
  for (const ObjectInfo& document : *documents) {
    auto name = keys::member_name(document.key);
    if (!name || *name == self_.name) continue;  // a foreign object is nobody
    auto seen = watch(*name).look_at_listed(document.etag);
    MORULA_TRY(seen);
    if (*seen == MemberWatch::Seen::kLive) alone = false;
  }
  return alone;
}

std::set<std::string> Membership::live() const {
  std::set<std::string> names{self_.name};
  for (const auto& [name, watched] : watches_) {
    const auto& member = watched.member();
    if (member && member->state == MemberState::kLive) names.insert(name);
  }
  return names;
}

std::optional<IncarnationId> Membership::live_incarnation(const std::string& name) const {
  if (name == self_.name) return self_;
  const auto found = watches_.find(name);
  if (found == watches_.end()) return std::nullopt;
  const auto& member = found->second.member();
  if (!member || member->state != MemberState::kLive) return std::nullopt;
  return member->incarnation;
}

Result<std::vector<Member>> Membership::read_all() {
  auto documents = list_objects(env_, keys::kMembers, {}, Purpose::kHeartbeat, retry_);
  MORULA_TRY(documents);
  std::vector<Member> members;
  for (const ObjectInfo& document : *documents) {
    if (!keys::member_name(document.key)) continue;  // a foreign object is nobody
    auto member = read_document(env_, document.key, Purpose::kHeartbeat, retry_, decode_member);
    MORULA_TRY(member);
    if (*member) members.push_back(std::move((*member)->content));
  }
  return members;
}

Result<std::optional<Membership::Owner>> Membership::look_at(const IncarnationId& incarnation) {
  // Its lease says how it is itself, and nobody else of its name lives. Its own document it might
  // find unchanged for too long, when it wakes, and expire itself.
  const bool own = incarnation.name == self_.name;
  if (own) return Owner{incarnation != self_, env_.network.address(), LogSeq(0)};
  MemberWatch& watched = watch(incarnation.name);
  auto seen = watched.look();
  MORULA_TRY(seen);
  if (*seen == MemberWatch::Seen::kAbsent) return std::nullopt;
  const Member& member = *watched.member();
  // A document is only replaced by the name's next incarnation once it is over.
  if (member.incarnation != incarnation) return Owner{true, {}, LogSeq(0)};
  return Owner{*seen == MemberWatch::Seen::kOver, member.address, member.acknowledged};
}

}  // namespace morula
