#include "core/lsm/stream_filter.hpp"

#include <algorithm>

#include "core/base/codec.hpp"

namespace morula {
namespace {

constexpr uint64_t kBitsPerStream = 12;
constexpr uint64_t kProbes = 8;
constexpr size_t kHeadBytes = 1;  // probes

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

uint64_t hash_of(StreamId id) {
  return mix(id.high ^ mix(id.low + 0x9e3779b97f4a7c15));
}

/// Calls `visit` with the bit of each probe until it returns false.
template <class Visit>
bool each_probe(uint64_t hash, uint64_t probes, uint64_t bits, Visit visit) {
  const uint64_t step = mix(hash) | 1;
  for (uint64_t i = 0; i < probes; ++i, hash += step) {
    const auto bit = static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * bits) >> 64);
    if (!visit(bit)) return false;
  }
  return true;
}

}  // namespace

void StreamFilterBuilder::add(StreamId id) {
  if (!hashes_.empty() && id == last_) return;
  last_ = id;
  hashes_.push_back(hash_of(id));
}

std::string StreamFilterBuilder::finish() {
  const uint64_t bytes = std::max<uint64_t>(8, (hashes_.size() * kBitsPerStream + 7) / 8);
  std::string filter(kHeadBytes + bytes, '\0');
  filter[0] = kProbes;
  for (const uint64_t hash : hashes_) {
    each_probe(hash, kProbes, 8 * bytes, [&](uint64_t bit) {
      char& byte = filter[kHeadBytes + bit / 8];
      byte = static_cast<char>(byte | (1 << (bit % 8)));
      return true;
    });
  }
  hashes_.clear();
  return filter;
}

bool stream_filter_may_contain(std::string_view filter, StreamId id) {
  if (filter.size() <= kHeadBytes) return true;
  const auto probes = static_cast<uint8_t>(filter[0]);
  const uint64_t bits = 8 * (filter.size() - kHeadBytes);
  return each_probe(hash_of(id), probes, bits, [&](uint64_t bit) {
    return (filter[kHeadBytes + bit / 8] & (1 << (bit % 8))) != 0;
  });
}

}  // namespace morula
