// What the streams of a run hold, and the requests that touch them; all of it follows from numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/rt/network.hpp"

namespace morula::density {

enum class Records : uint8_t {
  kEvents,  // JSON as applications log it: packs to about a half
  kRandom,  // bytes that nothing packs
};

struct Workload {
  uint64_t streams = 200'000;
  uint64_t record_bytes = 400;
  bool tenant_each = false;  // else all streams are of one tenant
  Records records = Records::kEvents;

  /// Creates stream `n` with its first record.
  HttpRequest create(uint64_t n) const;
  /// Appends record `number` to stream `n`.
  HttpRequest append(uint64_t n, uint64_t number) const;
  /// Reads stream `n` from its start.
  HttpRequest read(uint64_t n) const;

 private:
  HttpRequest request(const char* method, uint64_t n, const char* query, std::string body) const;
  std::string record(uint64_t n, uint64_t number) const;
};

}  // namespace morula::density
