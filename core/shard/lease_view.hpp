// What a shard asks of its incarnation's lease.
#pragma once

namespace morula {

class LeaseView {
 public:
  virtual ~LeaseView() = default;
  /// True while nobody else can have begun to take this incarnation's shards over. True at the end
  /// of a request means true since its arrival: whoever lets a lease be expired loses it for good.
  virtual bool holds() const = 0;
};

}  // namespace morula
