#include "core/rt/random.hpp"

#include "core/base/check.hpp"

namespace morula {
namespace {

uint64_t rotate_left(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

/// splitmix64: turns any seed, also 0 or small ones, into well mixed state.
uint64_t split_mix(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = split_mix(seed);
}

uint64_t Random::next() {
  const uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

uint64_t Random::below(uint64_t bound) {
  MORULA_CHECK(bound > 0);
  // The high half of a 64 x 64 bit product is uniform once the few low halves are refused that
  // would give some results one more chance than others.
  using Wide = unsigned __int128;
  Wide product = Wide{next()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t refused = -bound % bound;
    while (static_cast<uint64_t>(product) < refused) product = Wide{next()} * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace morula
