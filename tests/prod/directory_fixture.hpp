// A directory of its own for each test, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "prod/directory/directory_files.hpp"
#include "prod/directory/directory_store.hpp"
#include "prod/loop.hpp"

namespace morula {

class TemporaryDirectory {
 public:
  /// In memory, where there is such a file system, an fsync costs nothing.
  enum class Where : uint8_t { kMemory, kDisk };

  explicit TemporaryDirectory(Where where = Where::kMemory) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = where == Where::kMemory && ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        (in_memory ? memory : std::filesystem::temp_directory_path()) / "morula-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::string read_file(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }
  void write_file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  /// Paths of all files below but redo logs, relative, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      const std::string name = std::filesystem::relative(entry.path(), path_).string();
      if (entry.is_regular_file() && !name.starts_with("@redo/")) found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::filesystem::path path_;
};

/// With a small redo log, unless the options say otherwise.
inline std::unique_ptr<DirectoryFiles> open_files(const std::filesystem::path& path,
                                                  DirectoryFiles::Options options = {}) {
  if (options.redo == RedoUse::kAuto) {
    options.redo = RedoUse::kAtOnce;
    options.redo_segment_bytes = 512 * kKiB;
  }
  auto files = DirectoryFiles::open(path.string(), std::move(options));
  if (!files) throw std::runtime_error(files.error().message);
  return std::move(*files);
}

}  // namespace morula
