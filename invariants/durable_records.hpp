// Invariant 1 before any crash: what a client is told lies in the bucket. An append that is
// acknowledged, or a message that is shown, whose record lies in no object of a log was answered
// too early, whether or not anything is lost by it later.
#pragma once

#include <string_view>
#include <vector>

#include "invariants/record.hpp"

namespace morula::invariants {

class DurableRecords {
 public:
  /// An object was written: notes the records in it if it is one of a log.
  void written(std::string_view key, std::string_view body);
  /// Whether the record has ever been in a log object.
  bool holds(RecordId record) const {
    return record.client < seen_.size() && record.number < seen_[record.client].size() &&
           seen_[record.client][record.number];
  }

 private:
  std::vector<std::vector<bool>> seen_;  // by client, then by number
};

}  // namespace morula::invariants
