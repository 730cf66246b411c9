// What happens next in a simulated world: a queue of actions ordered by true time.
//
// True time is the world's own; no simulated process sees it (each has a skewed clock of its own,
// sim/world/sim_clock.hpp). The queue is the only thing that advances it.
//
// An action may belong to a gate: the ears of one run of a process. While the process is paused its
// gate is shut and the actions that fall due are held back; they come, in a drawn order, soon after
// it resumes. Once the process is dead its gate is sealed and they are dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/units.hpp"

namespace morula {
class Random;
}

namespace morula::sim {

/// Tag of the world's own time, which starts at 0.
struct TrueClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<TrueClock, Duration>;
  static constexpr bool is_steady = true;
};
using TrueTime = TrueClock::time_point;

class EventQueue {
 public:
  /// Names a scheduled action; never 0, never reused.
  using EventId = uint64_t;
  using GateId = uint32_t;
  static constexpr GateId kAlwaysOpen = 0;

  EventQueue();
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  TrueTime now() const { return now_; }
  /// Actions that will still run, held ones excluded.
  bool empty() const { return due_ == 0; }
  /// When the next action is due; TrueTime::max() when there is none.
  TrueTime next_at();
  /// Advances to the next action and runs it, outside fibers. False when there is none.
  bool run_next();
  /// Advances to `time`, which is not past the next action.
  void advance_to(TrueTime time);
  /// Actions that have run.
  uint64_t count() const { return count_; }

  /// `action` runs once, at `when` or now if that is past, unless it is cancelled or its gate is
  /// sealed first. Its captures are at most `kActionBytes`.
  template <class Action>
  EventId at(TrueTime when, GateId gate, Action&& action);
  template <class Action>
  EventId after(Duration delay, GateId gate, Action&& action) {
    return at(now_ + delay, gate, std::forward<Action>(action));
  }
  /// Called by a running action: it runs once more, at `when`, under the same id.
  void again_at(TrueTime when) { again_ = when; }
  /// Ignored when it is running, has run or was dropped.
  void cancel(EventId event);
  /// Destroys all actions unrun; what their destructors schedule is dropped as well.
  void clear();

  GateId make_gate();
  void shut(GateId gate);
  /// What was held back comes in the next millisecond, in an order drawn from `order`.
  void open(GateId gate, Random& order);
  void seal(GateId gate);

  static constexpr size_t kActionBytes = 64;

 private:
  struct Slot {
    alignas(std::max_align_t) std::byte storage[kActionBytes];
    void (*run)(void*) = nullptr;  // null: free or cancelled
    void (*destroy)(void*) = nullptr;
    uint32_t version = 0;
    GateId gate = kAlwaysOpen;
    bool held = false;
  };
  struct Entry {
    TrueTime at;
    uint64_t order;
    uint32_t slot;
  };
  enum class GateState : uint8_t { kOpen, kShut, kSealed };
  struct Gate {
    GateState state = GateState::kOpen;
    std::vector<uint32_t> held;  // slots
  };

  uint32_t take_slot();
  EventId schedule(TrueTime when, uint32_t slot);
  void push(TrueTime when, uint32_t slot);
  void pop();
  void destroy_action(Slot& slot);
  void free_slot(uint32_t slot);
  void skip_cancelled();

  static constexpr uint32_t kNoSlot = UINT32_MAX;
  static constexpr TrueTime kNotAgain = TrueTime::max();

  TrueTime now_{};
  uint32_t running_ = kNoSlot;
  TrueTime again_ = kNotAgain;
  uint64_t count_ = 0;
  uint64_t order_ = 0;
  size_t due_ = 0;
  bool closed_ = false;
  std::vector<Entry> heap_;
  std::deque<Slot> slots_;
  std::vector<uint32_t> free_;
  std::vector<Gate> gates_;
};

template <class Action>
EventQueue::EventId EventQueue::at(TrueTime when, GateId gate, Action&& action) {
  using Stored = std::decay_t<Action>;
  static_assert(sizeof(Stored) <= kActionBytes, "capture less, or a pointer");
  static_assert(alignof(Stored) <= alignof(std::max_align_t));
  if (closed_) return 0;
  uint32_t slot = take_slot();
  Slot& s = slots_[slot];
  new (s.storage) Stored(std::forward<Action>(action));
  s.run = [](void* place) { (*static_cast<Stored*>(place))(); };
  s.destroy = [](void* place) { static_cast<Stored*>(place)->~Stored(); };
  s.gate = gate;
  return schedule(when, slot);
}

}  // namespace morula::sim
