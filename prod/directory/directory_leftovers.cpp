#include "prod/directory/directory_leftovers.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "prod/directory/directory_names.hpp"
#include "prod/posix_file.hpp"

namespace morula {
namespace {

void add(Unneeded& group, const std::filesystem::path& path, const std::string& name) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (group.example.empty()) group.example = name;
  group.amount.add({name,
                    static_cast<uint64_t>(info.st_size),
                    {},
                    WallTime{nanoseconds(info.st_mtim) / 1'000'000}});
}

}  // namespace

std::vector<Unneeded> directory_leftovers(const std::string& directory) {
  Unneeded unfinished{
      "unfinished files; the next start deletes those of an hour ago", true, {}, {}};
  Unneeded candidates{"versions that were not finished; the next swap deletes them", true, {}, {}};
  std::error_code error;
  std::filesystem::recursive_directory_iterator walk(directory, error);
  for (; !error && walk != std::filesystem::recursive_directory_iterator(); walk.increment(error)) {
    const std::filesystem::path& path = walk->path();
    const std::string name = path.lexically_relative(directory).string();
    if (name.starts_with(std::string(kTemporaryFolder) + "/")) {
      add(unfinished, path, name);
    } else if (path.parent_path().string().ends_with('@') &&
               path.filename().string().find('.') != std::string::npos) {
      add(candidates, path, name);
    }
  }
  std::vector<Unneeded> found;
  for (Unneeded& group : {std::ref(unfinished), std::ref(candidates)}) {
    if (group.amount.objects > 0) found.push_back(group);
  }
  return found;
}

}  // namespace morula
