// Listing a directory store in key order.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/rt/store.hpp"
#include "prod/directory/directory_root.hpp"

namespace morula {

/// As Store::list. Reads only the folders that can hold such keys, each whole. `foreign` gets the
/// path of each name that no key has. `settle_found`: what is listed is settled first.
Result<Listing> list_object_files(DirectoryRoot& root, bool settle_found, std::string_view prefix,
                                  std::string_view start_after, size_t limit,
                                  const std::function<void(const std::string& path)>& foreign);

}  // namespace morula
