#include "tests/tidy/source_tree.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace morula::tidy {

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Blanks comments and what literals contain; line breaks stay.
class Stripper {
 public:
  explicit Stripper(std::string text) : text_(std::move(text)) {}

  std::string strip() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_until("\n", false);
      } else if (starts("/*")) {
        blank_until("*/", true);
      } else if (starts("R\"")) {
        const size_t open = text_.find('(', at_);
        const std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
        at_ += 2;
        blank_until(close, true);
      } else if (starts("\"") || (starts("'") && !after_digit())) {
        blank_literal(text_[at_]);
      } else {
        ++at_;
      }
    }
    return text_;
  }

 private:
  bool starts(std::string_view token) const { return text_.compare(at_, token.size(), token) == 0; }
  /// 1'000 is no literal.
  bool after_digit() const {
    return at_ > 0 && std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }
  void blank() {
    if (text_[at_] != '\n') text_[at_] = ' ';
    ++at_;
  }
  void blank_until(std::string_view end, bool with_end) {
    while (at_ < text_.size() && !starts(end)) blank();
    for (size_t i = 0; with_end && i < end.size() && at_ < text_.size(); ++i) blank();
  }
  void blank_literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) blank();
      blank();
    }
    ++at_;
  }

  std::string text_;
  size_t at_ = 0;
};

bool is_ours(const std::string& path) {
  static constexpr std::array<std::string_view, 3> kSkipped = {"build", "data",
                                                               "tests/tidy/fixture"};
  if (path.starts_with(".ci/") || path == ".ci") return true;
  if (path.starts_with(".")) return path == ".clang-format" || path == ".clang-tidy";
  return std::find(kSkipped.begin(), kSkipped.end(), path) == kSkipped.end();
}

bool is_text(const fs::path& path) {
  static constexpr std::array<std::string_view, 14> kExtensions = {
      ".hpp", ".cpp", ".txt", ".md",   ".json",    ".sh", ".html",
      ".css", ".js",  ".tla", ".yaml", ".service", ".in", ""};
  return std::find(kExtensions.begin(), kExtensions.end(), path.extension().string()) !=
         kExtensions.end();
}

}  // namespace

std::string_view SourceFile::top() const {
  const size_t slash = path.find('/');
  return slash == std::string::npos ? std::string_view{} : std::string_view(path).substr(0, slash);
}

std::string_view SourceFile::room() const {
  const size_t first = path.find('/');
  if (first == std::string::npos) return {};
  const size_t second = path.find('/', first + 1);
  if (second == std::string::npos) return {};
  return std::string_view(path).substr(first + 1, second - first - 1);
}

SourceFile make_file(std::string path, const std::string& text) {
  SourceFile file;
  file.path = std::move(path);
  file.lines = split_lines(text);
  if (file.is_cpp()) file.code = split_lines(Stripper(text).strip());
  return file;
}

std::string Finding::text() const {
  return path + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + rule + ": " + message;
}

SourceTree read_tree(const fs::path& root) {
  SourceTree tree;
  tree.root = root;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = fs::relative(entry->path(), root).generic_string();
    if (!is_ours(path)) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || !is_text(entry->path())) continue;
    tree.files.push_back(make_file(path, read_file(entry->path())));
  }
  std::sort(tree.files.begin(), tree.files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

}  // namespace morula::tidy
