// Trimming the own log (OWNERSHIP R7): what no manifest needs any more is deleted.
#pragma once

#include <optional>

#include "core/log/log_writer.hpp"
#include "core/store/conditional.hpp"

namespace morula {

class Trimmer {
 public:
  /// References outlive this.
  Trimmer(const Env& env, const RetryConfig& retry, LogWriter& log)
      : env_(env), retry_(retry), log_(log) {}

  /// Deletes own log objects below the minimum of: the acknowledged position and the pins, noted
  /// first; then every `from` of an entry for this log in the manifests of the topology's rows that
  /// list this incarnation, whoever owns them. The entries of the own view are pinned by the shards
  /// that serve them. Asks the store nothing when neither position nor pins have moved since the
  /// last time, unless `must_look`. Suspends. Errors leave the log as it is or trimmed in part.
  /// Returns the version of the topology that was read; nullopt: none was.
  Result<std::optional<Version>> run(bool must_look = false);

 private:
  struct Named {
    LogSeq lowest{UINT64_MAX};
    std::optional<Version> topology;
  };
  Result<Named> read_named();

  const Env env_;
  const RetryConfig retry_;
  LogWriter& log_;
  std::optional<LogSeq> done_below_;
};

}  // namespace morula
