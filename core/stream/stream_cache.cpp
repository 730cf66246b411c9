#include "core/stream/stream_cache.hpp"

namespace morula {

StreamStatePtr StreamCache::get(StreamId id) {
  if (const auto found = states_.find(id); found != states_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->state;
  }
  auto state = std::make_shared<StreamState>();
  recent_.push_front({id, state});
  states_.emplace(id, recent_.begin());
  evict();
  return state;
}

void StreamCache::acknowledged(LogSeq position) {
  if (!acknowledged_ || *acknowledged_ < position) acknowledged_ = position;
}

bool StreamCache::may_go(const StreamState& state) const {
  return !state.position || (acknowledged_ && *state.position <= *acknowledged_);
}

void StreamCache::evict() {
  // Those that must stay go to the front; a few looks per call keep that cheap.
  constexpr int kLooks = 8;
  for (int look = 0; look < kLooks && states_.size() > states_max_; ++look) {
    const auto last = std::prev(recent_.end());
    if (last->state.use_count() == 1 && may_go(*last->state)) {
      states_.erase(last->id);
      recent_.erase(last);
    } else {
      recent_.splice(recent_.begin(), recent_, last);
    }
  }
}

}  // namespace morula
