// How keys of a directory store become paths, and back.
//
// A key's segments (between slashes) become folders and a file of the same names, so that a person
// finds `topology.json`. Letters, digits, '-', '_' and '.' stand for themselves, every other byte
// is %XX; so '@' is free for the store's own names: `@tmp` and `@redo` in the root, and `<name>@`,
// the folder with the versions of a swapped object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

/// Where unfinished files lie, below the store's root.
inline constexpr const char* kTemporaryFolder = "@tmp";

/// Where the processes' redo logs lie.
inline constexpr const char* kRedoFolder = "@redo";

/// The relative path of `key`. kInvalid: empty, longer than 1,024 bytes, an empty segment, or a
/// segment that makes too long a file name.
Result<std::string> path_of_key(std::string_view key);

/// The segment that a file or folder name stands for; nullopt for names that no key has.
std::optional<std::string> segment_of_name(std::string_view name);

/// True for what path_of_key makes.
bool is_key_path(std::string_view path);

/// The folder of versions beside an object.
inline std::string versions_of(const std::string& path) {
  return path + "@";
}

/// The folder that `path` lies in; "." for the root.
std::string folder_of(const std::string& path);

}  // namespace morula
