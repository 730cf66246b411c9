#include "prod/directory/directory_list.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <vector>

#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_object.hpp"

namespace morula {
namespace {

/// What a folder holds, by the part that it adds to a key: "a" for an object, "a/" for a folder.
/// Sorted by it, folders lie where their keys do.
using Parts = std::map<std::string, std::string>;  // to the file name

class Lister {
 public:
  Lister(DirectoryRoot& root, bool settle_found, std::string_view prefix,
         std::string_view start_after, size_t limit,
         const std::function<void(const std::string&)>& foreign)
      : root_(root),
        settle_(settle_found),
        prefix_(prefix),
        start_after_(start_after),
        limit_(limit),
        foreign_(foreign) {}

  Result<> visit(const std::string& folder, const std::string& key_so_far) {
    Parts parts;
    MORULA_TRY(read_parts(folder, parts));
    for (const auto& [part, name] : parts) {
      if (listing.truncated) return {};
      const std::string key = key_so_far + part;
      std::string path = folder == "." ? "" : folder + "/";
      path += name;
      if (part.ends_with('/')) {
        if (may_hold_wanted(key)) MORULA_TRY(visit(path, key));
      } else if (key.starts_with(prefix_) && key > start_after_) {
        MORULA_TRY(add(key, path));
      }
    }
    return {};
  }

  Listing listing;

 private:
  bool may_hold_wanted(const std::string& folder_key) const {
    if (!folder_key.starts_with(prefix_) && !prefix_.starts_with(folder_key)) return false;
    return folder_key > start_after_ || start_after_.starts_with(folder_key);
  }

  Result<> read_parts(const std::string& folder, Parts& parts) const {
    std::vector<FolderEntry> entries;
    const int error = root_.list(folder, entries);
    if (error == ENOENT || error == ENOTDIR) return {};
    if (error != 0) return fail(file_error(error, "read the folder " + root_.full(folder)));
    for (FolderEntry& entry : entries) add_part(folder, entry, parts);
    return {};
  }

  void add_part(const std::string& folder, FolderEntry& entry, Parts& parts) const {
    if (folder == "." && (entry.name == kTemporaryFolder || entry.name == kRedoFolder)) return;
    std::string_view name = entry.name;
    const bool versions = name.ends_with('@');
    if (versions) name.remove_suffix(1);
    const auto segment = segment_of_name(name);
    const bool special = entry.type != DT_REG && entry.type != DT_DIR && entry.type != DT_UNKNOWN;
    if (!segment || special) {
      foreign_(folder == "." ? entry.name : folder + "/" + entry.name);
    } else if (!versions && is_folder(folder, entry)) {
      parts.emplace(*segment + "/", name);
    } else {
      parts.emplace(*segment, name);  // the versions count also while the plain file is removed
    }
  }

  bool is_folder(const std::string& folder, const FolderEntry& entry) const {
    if (entry.type != DT_UNKNOWN) return entry.type == DT_DIR;
    struct stat info {};
    const std::string path = folder + "/" + entry.name;
    return ::fstatat(root_.fd.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(info.st_mode);
  }

  Result<> add(const std::string& key, const std::string& path) {
    const auto object = open_current(root_, path);
    if (!object) {
      // Deleted since the folder was read.
      if (object.error().code == ErrorCode::kNotFound) return {};
      return fail(object.error());
    }
    if (listing.objects.size() >= limit_) {
      listing.truncated = true;
    } else {
      if (settle_) MORULA_TRY(make_durable(root_, *object));
      listing.objects.push_back(info_of(key, object->info));
    }
    return {};
  }

  DirectoryRoot& root_;
  bool settle_;
  std::string_view prefix_;
  std::string_view start_after_;
  size_t limit_;
  const std::function<void(const std::string&)>& foreign_;
};

}  // namespace

Result<Listing> list_object_files(DirectoryRoot& root, bool settle_found, std::string_view prefix,
                                  std::string_view start_after, size_t limit,
                                  const std::function<void(const std::string& path)>& foreign) {
  Lister lister(root, settle_found, prefix, start_after, limit, foreign);
  // The folder that all of them lie in.
  const size_t slash = prefix.rfind('/');
  std::string folder = ".";
  std::string key_so_far;
  if (slash != std::string_view::npos) {
    key_so_far = prefix.substr(0, slash + 1);
    auto path = path_of_key(prefix.substr(0, slash));
    if (!path) return Listing{};  // no key has such a folder
    folder = std::move(*path);
  }
  if (auto visited = lister.visit(folder, key_so_far); !visited) return fail(visited.error());
  return std::move(lister.listing);
}

}  // namespace morula
