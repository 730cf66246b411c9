#include "sim/world/event_queue.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/rt/random.hpp"

namespace morula::sim {

namespace {

constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
};
constexpr uint64_t kReopenJitterNs = 1'000'000;

}  // namespace

EventQueue::EventQueue() : gates_(1) {}

EventQueue::~EventQueue() {
  clear();
}

void EventQueue::clear() {
  closed_ = true;
  for (Slot& slot : slots_) destroy_action(slot);
  heap_.clear();
  for (Gate& gate : gates_) gate.held.clear();
  due_ = 0;
}

uint32_t EventQueue::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<uint32_t>(slots_.size() - 1);
  }
  uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

EventQueue::EventId EventQueue::schedule(TrueTime when, uint32_t slot) {
  push(std::max(when, now_), slot);
  return (static_cast<uint64_t>(slots_[slot].version) << 32 | slot) + 1;
}

void EventQueue::push(TrueTime when, uint32_t slot) {
  heap_.push_back({when, ++order_, slot});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  ++due_;
}

void EventQueue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), kLater);
  heap_.pop_back();
}

void EventQueue::destroy_action(Slot& slot) {
  if (slot.run == nullptr) return;
  slot.run = nullptr;
  slot.destroy(slot.storage);
}

void EventQueue::free_slot(uint32_t slot) {
  destroy_action(slots_[slot]);
  slots_[slot].held = false;
  ++slots_[slot].version;
  free_.push_back(slot);
}

void EventQueue::cancel(EventId event) {
  if (event == 0) return;
  auto slot = static_cast<uint32_t>(event - 1);
  auto version = static_cast<uint32_t>((event - 1) >> 32);
  if (slot >= slots_.size() || slots_[slot].version != version) return;
  Slot& s = slots_[slot];
  if (s.run == nullptr || slot == running_) return;
  if (!s.held) --due_;
  // The heap, or the gate, still names the slot: it is freed when they let go of it.
  destroy_action(s);
}

void EventQueue::skip_cancelled() {
  while (!heap_.empty() && slots_[heap_.front().slot].run == nullptr) {
    uint32_t slot = heap_.front().slot;
    pop();
    free_slot(slot);
  }
}

TrueTime EventQueue::next_at() {
  skip_cancelled();
  return heap_.empty() ? TrueTime::max() : heap_.front().at;
}

bool EventQueue::run_next() {
  skip_cancelled();
  if (heap_.empty()) return false;
  Entry entry = heap_.front();
  pop();
  --due_;
  now_ = entry.at;
  Slot& slot = slots_[entry.slot];
  Gate& gate = gates_[slot.gate];
  if (gate.state == GateState::kShut) {
    slot.held = true;
    gate.held.push_back(entry.slot);
    return true;
  }
  if (gate.state == GateState::kOpen) {
    ++count_;
    running_ = entry.slot;
    again_ = kNotAgain;
    slot.run(slot.storage);
    running_ = kNoSlot;
    if (again_ != kNotAgain) {
      push(std::max(again_, now_), entry.slot);
      return true;
    }
  }
  free_slot(entry.slot);
  return true;
}

void EventQueue::advance_to(TrueTime time) {
  MORULA_CHECK(time <= next_at(), "an action would be passed over");
  now_ = std::max(now_, time);
}

EventQueue::GateId EventQueue::make_gate() {
  gates_.emplace_back();
  return static_cast<GateId>(gates_.size() - 1);
}

void EventQueue::shut(GateId gate) {
  if (gates_[gate].state == GateState::kOpen) gates_[gate].state = GateState::kShut;
}

void EventQueue::open(GateId gate, Random& order) {
  if (gates_[gate].state != GateState::kShut) return;
  gates_[gate].state = GateState::kOpen;
  std::vector<uint32_t> held = std::move(gates_[gate].held);
  gates_[gate].held.clear();
  for (uint32_t slot : held) {
    if (slots_[slot].run == nullptr) {
      free_slot(slot);
      continue;
    }
    slots_[slot].held = false;
    push(now_ + Duration(order.below(kReopenJitterNs)), slot);
  }
}

void EventQueue::seal(GateId gate) {
  if (gates_[gate].state == GateState::kSealed) return;
  gates_[gate].state = GateState::kSealed;
  std::vector<uint32_t> held = std::move(gates_[gate].held);
  gates_[gate].held.clear();
  for (uint32_t slot : held) free_slot(slot);
}

}  // namespace morula::sim
