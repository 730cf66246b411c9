#include "core/cell/stored_data.hpp"

#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"

namespace morula {

Result<> require_no_data(const Env& env, const RetryConfig& retry, std::string_view document) {
  for (const std::string_view folder : {keys::kTables, keys::kLogs}) {
    MORULA_TRY(for_each_object(
        env, folder, "", Purpose::kOwnership, retry, [&](const ObjectInfo& object) -> Result<> {
          // Whoever joined and stopped before there was a topology has left a fence.
          if (folder == keys::kLogs && object.size == kLogFenceBytes) return {};
          return fail(ErrorCode::kCorrupt,
                      std::string(document) + " is absent, but " + object.key +
                          " holds data of a cell: restore it, or use an empty directory or prefix");
        }));
  }
  return {};
}

}  // namespace morula
