#include "core/stream/stream_cache.hpp"

namespace morula {

namespace {

constexpr size_t kHints = 4096;

}  // namespace

StreamCache::StreamCache(size_t states_max)
    : states_max_(states_max), hints_(kHints, recent_.end()) {}

StreamStatePtr StreamCache::get(StreamId id) {
  const Place place = find(id);
  if (place != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, place);
    return place->state;
  }
  auto state = std::make_shared<StreamState>();
  recent_.push_front({id, state});
  states_.emplace(id, recent_.begin());
  hint(id) = recent_.begin();
  evict();
  return state;
}

StreamCache::Place StreamCache::find(StreamId id) {
  Place& hinted = hint(id);
  if (hinted != recent_.end() && hinted->id == id) return hinted;
  const auto found = states_.find(id);
  if (found == states_.end()) return recent_.end();
  hinted = found->second;
  return hinted;
}

void StreamCache::acknowledged(LogSeq position) {
  if (!acknowledged_ || *acknowledged_ < position) acknowledged_ = position;
}

void StreamCache::forget(Prefix space) {
  for (auto next = states_.lower_bound(space.first()); next != states_.end();) {
    const auto at = next++;
    if (!space.contains(at->first)) break;
    at->second->state->gone = true;
    erase(at->second);
  }
}

void StreamCache::erase(Place place) {
  if (hint(place->id) == place) hint(place->id) = recent_.end();
  states_.erase(place->id);
  recent_.erase(place);
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
      erase(last);
    } else {
      recent_.splice(recent_.begin(), recent_, last);
    }
  }
}

}  // namespace morula
