// The faults that a world can have, once: names for tables, sentences for people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace morula::sim {

// name, what happens
#define MORULA_FAULTS(X)                                                                 \
  X(crash, "a process dies, at a moment or between two fiber switches")                  \
  X(crash_at_step, "a process dies at or shortly after a step of the protocol")          \
  X(crash_at_request, "a process dies right after sending a request to the store")       \
  X(stop, "a process is asked to stop gracefully")                                       \
  X(pause_short, "a process is stopped for less than its lease and resumes")             \
  X(pause_long, "a process is stopped for longer than its lease and resumes")            \
  X(pause_at_step, "a process is stopped at or shortly after a step and resumes")        \
  X(clock_rate, "a process's clock runs fast or slow, within the bound")                 \
  X(wall_step, "somebody sets a process's wall clock")                                   \
  X(partition, "two groups of processes can't talk, both ways or one way")               \
  X(store_partition, "a process can't reach the store, or doesn't get its answers")      \
  X(slow_link, "messages between two processes take long")                               \
  X(pause_at_request, "a process is stopped right after sending a request to the store") \
  X(store_purpose_cut, "a process's requests for one purpose don't reach the store")     \
  X(store_kind_slow, "requests of one kind to the store are slow for a while")           \
  X(lease_stutter, "a renewal is answered late, and then none gets through")             \
  X(stale_watch, "watchers' reads are slow when a member stops renewing")                \
  X(blind_writer, "an owner can't renew, and what takes over from it is slow")           \
  X(trim_slow, "what a trim reads comes late")                                           \
  X(request_lost, "a request to a process is lost or comes very late")                   \
  X(answer_lost, "a process's answer is lost or comes very late")                        \
  X(store_request_lost, "a store request is lost: timeout, nothing done")                \
  X(store_answer_lost, "a store request is carried out, its answer is lost")             \
  X(store_late, "a store request lands long after its caller has given up")              \
  X(store_again, "a copy of a store request lands once more, later")                     \
  X(store_conflict, "a put is answered 409, nothing done")                               \
  X(store_error, "the store answers 5xx, nothing done")                                  \
  X(store_error_applied, "the store answers 5xx to what it has carried out")             \
  X(store_throttled, "the store refuses for now")                                        \
  X(store_slow, "a store request takes long")                                            \
  X(store_half, "a batch delete stops half way")                                         \
  X(bit_flip, "a read from the store returns a flipped bit, once")

enum class Fault : uint8_t {
#define MORULA_FAULT_ENUM(name, what) name,
  MORULA_FAULTS(MORULA_FAULT_ENUM)
#undef MORULA_FAULT_ENUM
};

inline constexpr size_t kFaults = 0
#define MORULA_FAULT_COUNT(name, what) +1
    MORULA_FAULTS(MORULA_FAULT_COUNT)
#undef MORULA_FAULT_COUNT
    ;

inline constexpr std::array<std::string_view, kFaults> kFaultNames = {
#define MORULA_FAULT_NAME(name, what) #name,
    MORULA_FAULTS(MORULA_FAULT_NAME)
#undef MORULA_FAULT_NAME
};

inline constexpr std::array<std::string_view, kFaults> kFaultSentences = {
#define MORULA_FAULT_SENTENCE(name, what) what,
    MORULA_FAULTS(MORULA_FAULT_SENTENCE)
#undef MORULA_FAULT_SENTENCE
};

/// One number per fault: how strong it is in a world, or how often it has happened.
class FaultNumbers {
 public:
  uint32_t& operator[](Fault fault) { return numbers_[static_cast<size_t>(fault)]; }
  uint32_t operator[](Fault fault) const { return numbers_[static_cast<size_t>(fault)]; }
  uint32_t at(size_t index) const { return numbers_[index]; }
  uint32_t& at(size_t index) { return numbers_[index]; }

 private:
  std::array<uint32_t, kFaults> numbers_{};
};

}  // namespace morula::sim
