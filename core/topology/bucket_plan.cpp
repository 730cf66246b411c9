#include "core/topology/bucket_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"

namespace morula {

namespace {

using Names = std::vector<std::string>;
using Counts = std::map<std::string, uint64_t, std::less<>>;  // buckets by member

bool is_among(const Names& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

/// `members` by name, if a plan of so many buckets can have them.
Result<Names> checked_members(Names members, uint64_t buckets) {
  std::sort(members.begin(), members.end());
  if (members.empty()) return fail(ErrorCode::kInvalid, "members: a plan has at least one");
  for (const std::string& name : members) {
    if (is_valid_instance_name(name)) continue;
    return fail(ErrorCode::kInvalid, "members: a name is 1 to 63 of a-z, 0-9 and -");
  }
  const auto twice = std::adjacent_find(members.begin(), members.end());
  if (twice != members.end()) {
    return fail(ErrorCode::kInvalid, "members: " + *twice + " is there twice");
  }
  if (buckets < members.size() || buckets > BucketPlan::kBucketsMax) {
    return fail(ErrorCode::kInvalid,
                "buckets: " + std::to_string(members.size()) + " members have from as many to " +
                    std::to_string(BucketPlan::kBucketsMax) + ", not " + std::to_string(buckets));
  }
  return members;
}

Result<> check_placement(const Names& members, const BucketPlacement& placement,
                         const std::string& place) {
  for (const std::string* name : {&placement.member, &placement.to}) {
    if (name == &placement.to && !placement.migrating()) continue;
    if (is_among(members, *name) || mutated(Mutant::plan_allows_dangling_member)) continue;
    return fail(ErrorCode::kInvalid, place + " is on \"" + *name + "\", which is no member");
  }
  if (placement.member == placement.to) {
    return fail(ErrorCode::kInvalid, place + " migrates from " + placement.to + " to itself");
  }
  return {};
}

Counts count_buckets(const std::vector<BucketPlacement>& placements) {
  Counts counts;
  for (const BucketPlacement& placement : placements) ++counts[placement.member];
  return counts;
}

uint64_t count_of(const Counts& counts, std::string_view name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

/// How many buckets each of `members` is to have. The larger shares go to who has most now: so the
/// fewest have to move.
Counts fair_shares(const Names& members, const Counts& counts, uint64_t buckets) {
  Names by_count = members;
  std::stable_sort(by_count.begin(), by_count.end(),
                   [&](const std::string& a, const std::string& b) {
                     return count_of(counts, a) > count_of(counts, b);
                   });
  const uint64_t larger = buckets % members.size();
  Counts shares;
  for (size_t i = 0; i < by_count.size(); ++i) {
    shares[by_count[i]] = buckets / members.size() + (i < larger ? 1 : 0);
  }
  return shares;
}

/// The buckets, ascending, that their members have beyond their shares: the last of each.
std::vector<uint64_t> excess(const std::vector<BucketPlacement>& placements, Counts counts,
                             const Counts& shares) {
  std::vector<uint64_t> found;
  for (uint64_t bucket = placements.size(); bucket-- > 0;) {
    const std::string& member = placements[bucket].member;
    const uint64_t keeps = mutated(Mutant::plan_moves_too_much) ? 0 : count_of(shares, member);
    if (counts[member] <= keeps) continue;
    --counts[member];
    found.push_back(bucket);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace

Result<BucketPlan> BucketPlan::uniform(Names members, uint64_t buckets) {
  auto names = checked_members(std::move(members), buckets);
  MORULA_TRY(names);
  std::vector<BucketPlacement> placements;
  placements.reserve(buckets);
  for (const auto& [name, share] : fair_shares(*names, {}, buckets)) {
    placements.insert(placements.end(), share, BucketPlacement{name, {}});
  }
  return BucketPlan(Version(1), *std::move(names), std::move(placements));
}

Result<BucketPlan> BucketPlan::of(Version version, Names members,
                                  std::vector<BucketPlacement> placements) {
  if (version < Version(1) || version > Version(kVersionMax)) {
    return fail(ErrorCode::kInvalid,
                "version: a whole number of 1 to " + std::to_string(kVersionMax));
  }
  auto names = checked_members(std::move(members), placements.size());
  MORULA_TRY(names);
  for (size_t i = 0; i < placements.size(); ++i) {
    MORULA_TRY(check_placement(*names, placements[i], "buckets[" + std::to_string(i) + "]"));
  }
  return BucketPlan(version, *std::move(names), std::move(placements));
}

Result<BucketPlan> BucketPlan::rebalanced(Names members, Shrink shrink) const {
  auto names = checked_members(std::move(members), bucket_count());
  MORULA_TRY(names);
  if (const auto open = migrating_buckets(); !open.empty()) {
    return fail(ErrorCode::kInvalid, std::to_string(open.size()) +
                                         " buckets are migrating, bucket " +
                                         std::to_string(open.front()) + " first: settle them");
  }
  const Counts counts = count_buckets(placements_);
  for (const auto& [name, count] : counts) {
    if (is_among(*names, name) || shrink == Shrink::kAllow) continue;
    return fail(ErrorCode::kInvalid, name + " has " + std::to_string(count) +
                                         " buckets and would leave, which has to be allowed");
  }
  BucketPlan plan = next();
  plan.members_ = *names;
  for (const auto& [name, count] : counts) {
    if (!is_among(*names, name)) plan.members_.push_back(name);  // until it has given them away
  }
  std::sort(plan.members_.begin(), plan.members_.end());
  Counts shares = fair_shares(*names, counts, bucket_count());
  const std::vector<uint64_t> moving = excess(placements_, counts, shares);
  Counts kept = counts;
  for (const uint64_t bucket : moving) --kept[placements_[bucket].member];
  auto receiver = shares.begin();
  for (const uint64_t bucket : moving) {
    while (kept[receiver->first] == receiver->second) ++receiver;
    ++kept[receiver->first];
    BucketPlacement& placement = plan.placements_[bucket];
    if (placement.member != receiver->first) placement.to = receiver->first;
  }
  const bool same = plan.members_ == members_ && plan.placements_ == placements_;
  return same ? *this : plan;
}

Result<BucketPlan> BucketPlan::settled(uint64_t bucket) const {
  if (bucket >= bucket_count()) {
    return fail(ErrorCode::kInvalid, "there are buckets 0 to " +
                                         std::to_string(bucket_count() - 1) + ", no bucket " +
                                         std::to_string(bucket));
  }
  if (!placement_for(bucket).migrating()) return *this;
  BucketPlan plan = next();
  plan.settle(bucket);
  plan.forget_who_left(*this);
  return plan;
}

BucketPlan BucketPlan::settled_all() const {
  const std::vector<uint64_t> open = migrating_buckets();
  if (open.empty()) return *this;
  BucketPlan plan = next();
  for (const uint64_t bucket : open) plan.settle(bucket);
  plan.forget_who_left(*this);
  return plan;
}

uint64_t BucketPlan::bucket_of(StreamId id) const {
  return (id.high >> 32) * bucket_count() >> 32;
}

const BucketPlacement& BucketPlan::placement_for(uint64_t bucket) const {
  MORULA_CHECK(bucket < bucket_count(), "a plan has a placement for each of its buckets");
  return placements_[bucket];
}

std::vector<uint64_t> BucketPlan::migrating_buckets() const {
  std::vector<uint64_t> found;
  for (uint64_t bucket = 0; bucket < bucket_count(); ++bucket) {
    if (placements_[bucket].migrating()) found.push_back(bucket);
  }
  return found;
}

BucketPlan BucketPlan::next() const {
  return {version_ + 1, members_, placements_};
}

void BucketPlan::settle(uint64_t bucket) {
  BucketPlacement& placement = placements_[bucket];
  placement.member = std::exchange(placement.to, {});
}

void BucketPlan::forget_who_left(const BucketPlan& before) {
  std::set<std::string, std::less<>> used;
  for (const BucketPlacement& placement : placements_) {
    used.insert(placement.member);
    if (placement.migrating()) used.insert(placement.to);
  }
  const Counts had = count_buckets(before.placements_);
  std::erase_if(members_, [&](const std::string& name) {
    return count_of(had, name) > 0 && !used.contains(name);
  });
}

}  // namespace morula
