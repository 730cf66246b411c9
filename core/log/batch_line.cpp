#include "core/log/batch_line.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"

namespace morula {

BatchLine::BatchLine(IncarnationId incarnation, uint64_t window)
    : incarnation_(std::move(incarnation)), window_(window) {
  MORULA_CHECK(window > 0, "a window of 0 sends nothing");
}

void BatchLine::open(uint64_t nonce) {
  MORULA_CHECK(!open_);
  auto batch = std::make_shared<LogBatch>();
  batch->seq = cut_;
  line_.push_back(std::move(batch));
  open_.emplace(incarnation_, cut_, nonce, last_size_);
}

void BatchLine::cut(WallTime wall_floor) {
  MORULA_CHECK(open_);
  LogBatch& batch = at(cut_);
  batch.state = LogBatch::State::kCut;
  batch.records = open_->records();
  batch.bytes = make_blob(open_->finish(wall_floor));
  batch.size = batch.bytes->size();
  batch.floor = wall_floor;
  open_.reset();
  last_size_ = batch.size;
  cut_bytes_ += batch.size;
  ++cut_;
}

bool BatchLine::may_send() const {
  // Batches are sent in order, so that n-W has landed means that all below it have, too.
  if (mutated(Mutant::window_by_count)) return in_flight_ < window_;
  return sent_ - acknowledged_ < window_;
}

const LogBatch* BatchLine::to_send() const {
  return sent_ < cut_ ? line_[sent_ - acknowledged_].get() : nullptr;
}

std::shared_ptr<LogBatch> BatchLine::send() {
  MORULA_CHECK(may_send() && to_send() != nullptr);
  const std::shared_ptr<LogBatch>& batch = line_[sent_ - acknowledged_];
  batch->state = LogBatch::State::kSent;
  cut_bytes_ -= batch->size;
  ++sent_;
  ++in_flight_;
  return batch;
}

bool BatchLine::land(LogBatch& batch) {
  MORULA_CHECK(batch.state == LogBatch::State::kSent);
  batch.state = LogBatch::State::kLanded;
  batch.bytes.reset();
  --in_flight_;
  if (mutated(Mutant::ack_out_of_order)) batch.settle();
  const LogSeq before = acknowledged_;
  while (!line_.empty() && line_.front()->state == LogBatch::State::kLanded) {
    const std::shared_ptr<LogBatch> first = std::move(line_.front());
    line_.pop_front();
    ++acknowledged_;
    acknowledged_floor_ = first->floor;
    first->settle();
  }
  return acknowledged_ > before;
}

std::shared_ptr<LogBatch> BatchLine::find(LogSeq seq) const {
  if (seq < acknowledged_ || seq - acknowledged_ >= line_.size()) return nullptr;
  return line_[seq - acknowledged_];
}

void BatchLine::wake_askers() {
  for (const auto& batch : line_) batch->askers.wake_all();
}

void BatchLine::abandon() {
  open_.reset();
  cut_bytes_ = 0;
  for (const auto& batch : line_) {
    if (batch->state != LogBatch::State::kSent) batch->bytes.reset();
    batch->settle();
  }
}

}  // namespace morula
