// A bucket plan as a JSON document: the body of `GET /v1/cell/plan`.
//
//   "version"  of the plan, from 1
//   "members"  names, sorted
//   "buckets"  by number: the name of the member that has it, or {"from","to"} while it migrates
//
// and what every document carries (core/base/document.hpp): kind, format, checksum.
#pragma once

#include <string>
#include <string_view>

#include "core/base/document.hpp"
#include "core/topology/bucket_plan.hpp"

namespace morula {

inline constexpr DocumentFormat kBucketPlanFormat{"morula-bucket-plan", 1};

std::string encode_bucket_plan(const BucketPlan& plan);
/// kCorrupt, naming the field; also for a plan that cannot be, see `BucketPlan::of`.
Result<BucketPlan> decode_bucket_plan(std::string_view text);

}  // namespace morula
