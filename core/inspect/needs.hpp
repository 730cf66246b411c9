// What the documents of a cell name: the objects without which it can't serve.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/inspect/stored_cell.hpp"
#include "core/store/keys.hpp"

namespace morula {

class Needs {
 public:
  explicit Needs(const StoredCell& view);

  struct NeededTable {
    Prefix shard;
    Tree tree = Tree::kMeta;
    uint64_t bytes = 0;
  };
  struct NeededLog {
    Prefix shard;
    IncarnationId incarnation;
    LogSeq from;
    std::optional<LogSeq> to;

    bool covers(LogSeq seq) const { return seq >= from && (!to || seq < *to); }
  };

  const std::map<std::string, NeededTable, std::less<>>& tables() const { return tables_; }
  const std::vector<NeededLog>& logs() const { return logs_; }
  /// Whether a document names it. Documents themselves are needed always, but manifests.
  bool names(std::string_view key, const keys::Parsed& parsed) const;
  /// The shards that need it, for messages: "shard root".
  std::string shards_of(std::string_view key, const keys::Parsed& parsed) const;
  /// Closed by its taker at or below `seq`: what lies there was never acknowledged.
  bool is_beyond_a_fence(const IncarnationId& incarnation, LogSeq seq) const;

 private:
  std::map<std::string, Prefix, std::less<>> manifests_;
  std::map<std::string, NeededTable, std::less<>> tables_;
  std::vector<NeededLog> logs_;
};

}  // namespace morula
