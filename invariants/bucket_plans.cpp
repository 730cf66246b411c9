#include "invariants/bucket_plans.hpp"

#include <algorithm>
#include <map>

#include "core/base/json.hpp"
#include "core/topology/bucket_plan_document.hpp"

namespace morula::invariants {

namespace {

// Sorts before the names of most instances, so that a plan that is made anew moves everything.
constexpr const char* kNewcomers[] = {"0", "00", "zz"};

std::string settled_owner(const Json& bucket) {
  const std::string* name = bucket.as_string();
  return name == nullptr ? "" : *name;
}

/// The text against the topology, bucket by bucket.
std::string wrong_with_text(const Topology& topology, const Json& plan) {
  if (plan.u64_at("version") != topology.version.value) return "it is of another version";
  const auto buckets = plan.array_at("buckets");
  const auto members = plan.array_at("members");
  if (!buckets || !members) return "it has no buckets or no members";
  if (buckets->size() != BucketPlan::kBucketsDefault) return "it has not all buckets";
  size_t bucket = 0;
  for (const TopologyShard& shard : topology.shards) {
    const size_t end = bucket + (buckets->size() >> shard.prefix.length);
    for (; bucket < end; ++bucket) {
      const std::string owner = settled_owner((*buckets)[bucket]);
      const std::string place = "bucket " + std::to_string(bucket);
      if (owner != shard.owner.name) return place + " is not settled on " + shard.owner.name;
      if (std::ranges::find(*members, Json(owner)) == members->end()) {
        return place + " is on somebody who is no member";
      }
    }
  }
  return {};
}

/// How many buckets two plans have with different owners.
uint64_t moved(const BucketPlan& before, const BucketPlan& after) {
  uint64_t count = 0;
  for (uint64_t bucket = 0; bucket < before.bucket_count(); ++bucket) {
    const std::string& owner = before.placement_for(bucket).member;
    if (after.placement_for(bucket).member != owner) ++count;
  }
  return count;
}

/// One instance joins after the other.
std::string wrong_with_growth(const BucketPlan& served) {
  auto plan = served.settled_all().rebalanced(served.members());
  if (!plan) return "it can't be balanced: " + plan.error().message;
  BucketPlan before = plan->settled_all();
  std::vector<std::string> members = served.members();
  for (const char* newcomer : kNewcomers) {
    if (std::ranges::find(members, newcomer) != members.end()) continue;
    members.emplace_back(newcomer);
    const auto grown = before.rebalanced(members);
    if (!grown) return "it can't grow: " + grown.error().message;
    const BucketPlan after = grown->settled_all();
    const uint64_t share = (before.bucket_count() + members.size() - 1) / members.size();
    const uint64_t count = moved(before, after);
    if (count > share) {
      return "as instance " + std::to_string(members.size()) + " joins, " + std::to_string(count) +
             " buckets move, and its share is " + std::to_string(share);
    }
    before = after;
  }
  return {};
}

/// Damage that a checksum does not see: whoever wrote it was wrong.
std::string wrong_with_reference(const Json& plan) {
  for (const char* bent : {"first", "last", "to"}) {
    Json::Object members = *plan.as_object();
    Json::Array buckets = *members["buckets"].as_array();
    Json& bucket = std::string_view(bent) == "first" ? buckets.front() : buckets.back();
    const Json nobody("nobody-of-that-name");
    bucket = std::string_view(bent) == "to" ? Json(Json::Object{{"from", bucket}, {"to", nobody}})
                                            : nobody;
    members["buckets"] = std::move(buckets);
    if (!decode_bucket_plan(encode_document(kBucketPlanFormat, std::move(members)))) continue;
    return "with the " + std::string(bent) + " reference to nobody it is taken for a plan";
  }
  return {};
}

}  // namespace

std::string wrong_with_plan(const Topology& topology, std::string_view text) {
  const auto json = open_document(kBucketPlanFormat, text);
  if (!json) return "it can't be read: " + json.error().message;
  if (std::string wrong = wrong_with_text(topology, *json); !wrong.empty()) return wrong;
  const auto plan = decode_bucket_plan(text);
  if (!plan) return "it can't be read: " + plan.error().message;
  if (std::string wrong = wrong_with_growth(*plan); !wrong.empty()) return wrong;
  return wrong_with_reference(*json);
}

}  // namespace morula::invariants
