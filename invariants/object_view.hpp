// What lies in the bucket, as checkers look at it: all at once, without requests and without
// faults.
#pragma once

#include <string>
#include <string_view>

namespace morula::invariants {

class ObjectView {
 public:
  virtual ~ObjectView() = default;
  /// The object's bytes; null when it is absent. Valid until the next change of the bucket.
  virtual const std::string* find(std::string_view key) const = 0;
};

}  // namespace morula::invariants
