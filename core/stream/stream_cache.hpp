// What is in memory of streams: their states, the least recently used go first. They don't know
// which shard they are of, so a split or a merge does not concern them.
//
// A state that somebody holds stays, and so does one whose last change is not known to be
// acknowledged: read again from rows it would have lost the position that its answers wait for.
// So the cache can pass its bound by what is in flight, which the log's queue bounds.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/units.hpp"
#include "core/rt/sync.hpp"
#include "core/stream/producer.hpp"
#include "core/stream/rows.hpp"

namespace morula {

/// The newest creation of a stream, alive or deleted.
struct StreamCreation {
  Generation generation;
  ChangeNumber change;
  bool deleted = false;
  HotRow hot;
  std::optional<WallTime> deadline;     // as memory knows it: not after the one of `hot`
  bool end_is_written = false;          // `hot` says when it ended, since it has ended
  std::string content_type;             // not of one that was deleted or over when it was loaded
  Expiry expiry;                        // likewise
  std::optional<std::string> sequence;  // the last `Stream-Seq`, once it was needed
  ProducerCache producers;
};

struct StreamState {
  /// Held while the state is loaded, and from validating a change until it is applied. What is
  /// loaded changes only in one go, without suspension, so reading it needs no lock.
  Mutex mutex;
  bool loaded = false;
  std::optional<StreamCreation> newest;  // nullopt: never created, as far as rows tell
  std::optional<LogSeq> position;        // of the last change; nullopt: none since it was loaded
  bool gone = false;  // its shard was given away: nothing may be computed from it any more
};

using StreamStatePtr = std::shared_ptr<StreamState>;

class StreamCache {
 public:
  explicit StreamCache(size_t states_max);

  /// The one state of `id`, fresh and not loaded if there was none.
  StreamStatePtr get(StreamId id);
  /// All positions up to this one are acknowledged.
  void acknowledged(LogSeq position);
  /// Drops all states of this space; who holds one finds it `gone`.
  void forget(Prefix space);
  size_t size() const { return states_.size(); }

 private:
  struct Entry {
    StreamId id;
    StreamStatePtr state;
  };
  using Place = std::list<Entry>::iterator;

  /// Where it was found last, or that of another; ids are hashes.
  Place& hint(StreamId id) { return hints_[id.low % hints_.size()]; }
  Place find(StreamId id);
  bool may_go(const StreamState& state) const;
  void erase(Place place);
  void evict();

  const size_t states_max_;
  std::optional<LogSeq> acknowledged_;
  std::list<Entry> recent_;  // the last used first
  std::map<StreamId, Place> states_;
  std::vector<Place> hints_;  // spare the busy streams the way through the map
};

}  // namespace morula
