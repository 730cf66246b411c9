// The project's files as tidy's rules look at them.
//
// Here live the rules of this code base that a compiler does not know (tidy_test.cpp runs them).
// The rules read text, not C++: they are made to be right about code that clang-format has
// formatted, and to be wrong on the side of a finding.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace morula::tidy {

struct SourceFile {
  std::string path;  // from the root, with '/'
  std::vector<std::string> lines;
  // The same lines with comments and the insides of literals blanked; of C++ files only.
  std::vector<std::string> code;

  bool is_cpp() const { return is_header() || path.ends_with(".cpp"); }
  bool is_header() const { return path.ends_with(".hpp"); }
  /// First folder of the path; empty for a file at the root.
  std::string_view top() const;
  /// Second folder of the path: the room within core; empty if there is none.
  std::string_view room() const;
};

SourceFile make_file(std::string path, const std::string& text);

/// Something that breaks a rule. Line 0: the file as a whole.
struct Finding {
  std::string path;
  size_t line = 0;
  std::string rule;
  std::string message;

  std::string text() const;
};
using Findings = std::vector<Finding>;

struct SourceTree {
  std::filesystem::path root;
  std::vector<SourceFile> files;  // by path
};

/// Every text file below `root` that is ours: not build output, not data, not hidden folders other
/// than .ci, not tidy's own fixture.
SourceTree read_tree(const std::filesystem::path& root);

}  // namespace morula::tidy
