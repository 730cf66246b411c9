// A running 64-bit hash of what happens in a world: equal for equal runs, whatever the build.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/codec.hpp"

namespace morula::sim {

class TraceHash {
 public:
  void add(uint64_t word) {
    state_ = (state_ ^ word) * 0x9fb21c651e98df25ULL;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view bytes) { add(checksum(bytes)); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x6d6f72756c61ULL;
};

/// Says what the words that follow it are, so that different events never hash alike.
enum class TraceKind : uint8_t {
  kStep = 1,
  kLog,
  kStoreSent,
  kStoreLanded,
  kStoreAnswered,
  kCallSent,
  kCallArrived,
  kCallAnswered,
  kProcess,
  kFault,
  kHistory,
  kVerdict,
  kPieceArrived,
};

}  // namespace morula::sim
