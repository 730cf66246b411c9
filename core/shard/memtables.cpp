#include "core/shard/memtables.hpp"

#include "core/shard/shard.hpp"

namespace morula {

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
