#include "core/shard/memtables.hpp"

#include "core/shard/shard.hpp"

namespace morula {

void Memtables::ended(Shard& shard) {
  --live_;
  std::erase(shards_, &shard);
}

void Memtables::log_has(LogSeq seq) {
  if (seq == log_end_) return;
  log_end_ = seq;
  for (size_t looked = 0; looked < shards_.size(); ++looked) {
    turn_ = (turn_ + 1) % shards_.size();
    if (shards_[turn_]->flush_if_due()) return;
  }
}

void Memtables::flush_largest() {
  if (!over_soft()) return;
  uint64_t unflushed = 0;
  for (const Shard* shard : shards_) unflushed += shard->unflushed_bytes();
  if (unflushed >= soft_bytes()) make_room();
}

void Memtables::make_room() {
  Shard* largest = nullptr;
  for (Shard* shard : shards_) {
    if (largest == nullptr || shard->unflushed_bytes() > largest->unflushed_bytes()) {
      largest = shard;
    }
  }
  if (largest != nullptr && largest->unflushed_bytes() > 0) largest->request_flush();
}

}  // namespace morula
