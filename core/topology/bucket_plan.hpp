// Who has which part of the hash space, in equal buckets: what the fleet computes its targets with,
// and what a client or an edge asks for to go to the right instance at once.
//
// A plan is a value that never changes: each operation gives the next one, under the next version.
// A bucket is settled on a member, or migrating from one member to another, which has it once the
// migration is settled. Who a plan is computed by, and in which order the members are given, makes
// no difference: every node comes to the same one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

/// Where a bucket is.
struct BucketPlacement {
  std::string member;  // has it, also while it migrates
  std::string to;      // that it migrates to; empty: it is settled

  bool migrating() const { return !to.empty(); }
  friend bool operator==(const BucketPlacement&, const BucketPlacement&) = default;
};

class BucketPlan {
 public:
  /// One bucket for each of the smallest shards that there can be.
  static constexpr uint64_t kBucketsDefault = uint64_t{1} << Prefix::kMaxLength;
  static constexpr uint64_t kBucketsMax = uint64_t{1} << 16;
  /// Clients may read it as a double.
  static constexpr uint64_t kVersionMax = (uint64_t{1} << 53) - 1;

  /// Version 1: neighbouring buckets, as many for each member, or one more for the first by name.
  /// kInvalid: no member, a name that is none, one twice, fewer buckets than members, or more than
  /// kBucketsMax.
  static Result<BucketPlan> uniform(std::vector<std::string> members,
                                    uint64_t buckets = kBucketsDefault);
  /// Any plan. kInvalid as above, and, naming the bucket: a placement that refers to no member, or
  /// a migration from a member to itself. Members may have no bucket.
  static Result<BucketPlan> of(Version version, std::vector<std::string> members,
                               std::vector<BucketPlacement> placements);

  enum class Shrink : uint8_t { kRefuse, kAllow };
  /// Migrations that leave each of `members` with as many buckets, or one more; no plan that does
  /// so moves fewer. From a balanced plan to one member more that is at most
  /// ceil(buckets / members). Without anything to change the plan itself. kInvalid: as `uniform`;
  /// a migration is open; or a member that has buckets is not among `members`, and nobody said that
  /// it may leave.
  Result<BucketPlan> rebalanced(std::vector<std::string> members,
                                Shrink shrink = Shrink::kRefuse) const;
  /// The bucket's migration has come to its end; without one the plan itself. A member that has
  /// given away its last bucket is a member no longer. kInvalid: there is no such bucket.
  Result<BucketPlan> settled(uint64_t bucket) const;
  BucketPlan settled_all() const;

  Version version() const { return version_; }
  /// By name.
  const std::vector<std::string>& members() const { return members_; }
  uint64_t bucket_count() const { return placements_.size(); }
  /// The bucket that holds the stream.
  uint64_t bucket_of(StreamId id) const;
  /// The caller knows that `bucket` is below `bucket_count()`.
  const BucketPlacement& placement_for(uint64_t bucket) const;
  const BucketPlacement& placement_for(StreamId id) const { return placement_for(bucket_of(id)); }
  /// Ascending.
  std::vector<uint64_t> migrating_buckets() const;
  bool is_stable() const { return migrating_buckets().empty(); }

  friend bool operator==(const BucketPlan&, const BucketPlan&) = default;

 private:
  BucketPlan(Version version, std::vector<std::string> members,
             std::vector<BucketPlacement> placements)
      : version_(version), members_(std::move(members)), placements_(std::move(placements)) {}

  BucketPlan next() const;
  void settle(uint64_t bucket);
  void forget_who_left(const BucketPlan& before);

  Version version_;
  std::vector<std::string> members_;
  std::vector<BucketPlacement> placements_;
};

}  // namespace morula
