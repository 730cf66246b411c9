#include "core/topology/bucket_plan_document.hpp"

#include <algorithm>

namespace morula {

namespace {

Result<BucketPlacement> decode_placement(const Json& json, std::string path) {
  if (const std::string* settled = json.as_string()) return BucketPlacement{*settled, {}};
  MemberReader in(json, std::move(path));
  BucketPlacement placement;
  placement.member = in.string("from");
  placement.to = in.string("to");
  if (placement.to.empty()) in.wrong("to", "must be the name of a member");
  MORULA_TRY(in.finish());
  return placement;
}

}  // namespace

std::string encode_bucket_plan(const BucketPlan& plan) {
  Json::Array members;
  for (const std::string& name : plan.members()) members.emplace_back(name);
  Json::Array buckets;
  for (uint64_t bucket = 0; bucket < plan.bucket_count(); ++bucket) {
    const BucketPlacement& placement = plan.placement_for(bucket);
    if (placement.migrating()) {
      buckets.emplace_back(Json::Object{{"from", placement.member}, {"to", placement.to}});
    } else {
      buckets.emplace_back(placement.member);
    }
  }
  return encode_document(kBucketPlanFormat, {{"version", plan.version().value},
                                             {"members", std::move(members)},
                                             {"buckets", std::move(buckets)}});
}

Result<BucketPlan> decode_bucket_plan(std::string_view text) {
  const auto json = open_document(kBucketPlanFormat, text);
  MORULA_TRY(json);
  MemberReader in(*json);
  const Version version(in.number("version", 1, BucketPlan::kVersionMax));
  std::vector<std::string> members;
  for (const Json& name : in.array("members")) {
    if (name.as_string() == nullptr) in.wrong("members", "must be an array of names");
    members.push_back(name.as_string() == nullptr ? "" : *name.as_string());
  }
  if (!std::is_sorted(members.begin(), members.end())) in.wrong("members", "must be sorted");
  std::vector<BucketPlacement> placements;
  for (const Json& entry : in.array("buckets")) {
    auto placement = decode_placement(entry, "buckets[" + std::to_string(placements.size()) + "]");
    MORULA_TRY(placement);
    placements.push_back(*std::move(placement));
  }
  MORULA_TRY(in.finish());
  auto plan = BucketPlan::of(version, std::move(members), std::move(placements));
  if (!plan) return fail(ErrorCode::kCorrupt, plan.error().message);
  return plan;
}

}  // namespace morula
