// What `GET /v1/cell` tells, for people: a picture of the hash space, and tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/base/result.hpp"

namespace morula {

struct CellReport {
  struct Shard {
    Prefix prefix;
    uint64_t epoch = 0;
    std::string owner;
    bool live = false;
    std::string to;  // where it is moving; empty: nowhere
  };
  struct Member {
    std::string name;
    std::string address;
    std::string state;
    uint64_t shards = 0;
  };
  uint64_t version = 0;
  std::string asked;  // who told
  std::vector<Shard> shards;
  std::vector<Member> members;
  std::vector<std::string> silent;
};

/// kCorrupt, naming what is missing.
Result<CellReport> parse_cell_report(std::string_view body);

/// One character a piece of the hash space: the letter of the shard's owner, a capital while the
/// shard moves, * where shards of several owners share the piece; below it the shards' prefixes
/// where there is room, and a bar where each begins.
std::string picture_of(const CellReport& report);
std::string text_of(const CellReport& report);

}  // namespace morula
