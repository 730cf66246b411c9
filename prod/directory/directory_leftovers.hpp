// What writers that died have left in a store's directory: files that are no objects.
#pragma once

#include <string>
#include <vector>

#include "core/inspect/survey.hpp"

namespace morula {

/// Unfinished files and candidates of versions (directory_object.hpp); nothing when there are none.
/// Some may belong to a writer that is at work. What can't be read is left out.
std::vector<Unneeded> directory_leftovers(const std::string& directory);

}  // namespace morula
