#include "core/stream/producer.hpp"

#include <algorithm>

namespace morula {

ProducerVerdict judge_producer(const std::optional<ProducerRow>& known, uint64_t epoch,
                               uint64_t seq) {
  if (!known) return seq == 0 ? ProducerVerdict::kNew : ProducerVerdict::kSequenceGap;
  if (epoch < known->epoch) return ProducerVerdict::kStaleEpoch;
  if (epoch > known->epoch) {
    return seq == 0 ? ProducerVerdict::kNew : ProducerVerdict::kEpochNotAtZero;
  }
  if (seq <= known->seq) return ProducerVerdict::kDuplicate;
  return seq == known->seq + 1 ? ProducerVerdict::kNew : ProducerVerdict::kSequenceGap;
}

const ProducerRow* ProducerCache::find(std::string_view id) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == id; });
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return &entries_.front().second;
}

void ProducerCache::put(std::string_view id, const ProducerRow& row, size_t max) {
  if (find(id) != nullptr) {
    entries_.front().second = row;
    return;
  }
  entries_.emplace(entries_.begin(), id, row);
  if (entries_.size() > max) entries_.pop_back();
}

}  // namespace morula
