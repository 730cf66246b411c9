#include <algorithm>
#include <array>
#include <regex>

#include "tests/tidy/rules.hpp"

namespace morula::tidy {

namespace {

constexpr size_t kFileLinesMax = 600;
constexpr size_t kFunctionLinesMax = 80;
constexpr size_t kColumnsMax = 100;

size_t columns(std::string_view line) {
  // Continuation bytes of UTF-8 take no column.
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Follows braces through a file's code. A brace that closes tells how many lines what it closed
/// had, counted from where its head began.
class BraceWalker {
 public:
  explicit BraceWalker(const SourceFile& file) : file_(file) {}

  Findings long_functions() {
    for (size_t line = 0; line < file_.code.size(); ++line) {
      const std::string& code = file_.code[line];
      if (code.find_first_not_of(' ') < code.size() && code[code.find_first_not_of(' ')] == '#') {
        continue;  // macros have braces of their own
      }
      for (const char c : code) step(c, line);
    }
    return std::move(findings_);
  }

 private:
  struct Block {
    bool function = false;
    size_t first_line = 0;
  };

  void step(char c, size_t line) {
    if (c == '{') {
      blocks_.push_back({is_function(), head_.empty() ? line : head_line_});
      head_.clear();
    } else if (c == '}') {
      if (!blocks_.empty()) close(line);
      head_.clear();
    } else if (c == ';') {
      head_.clear();
    } else if (c != ' ' || !head_.empty()) {
      if (head_.empty()) head_line_ = line;
      head_ += c;
    }
  }

  bool is_function() const {
    static const std::regex kContainer(R"(\b(namespace|class|struct|enum|union)\b)");
    const bool inside = std::any_of(blocks_.begin(), blocks_.end(),
                                    [](const Block& block) { return block.function; });
    return !inside && head_.find('(') != std::string::npos &&
           !std::regex_search(head_.substr(0, head_.find('(')), kContainer);
  }

  void close(size_t line) {
    const Block block = blocks_.back();
    blocks_.pop_back();
    const size_t lines = line - block.first_line + 1;
    if (block.function && lines > kFunctionLinesMax) {
      findings_.push_back({file_.path, block.first_line + 1, "function-length",
                           std::to_string(lines) + " lines; it must fit a screen of " +
                               std::to_string(kFunctionLinesMax)});
    }
  }

  const SourceFile& file_;
  std::vector<Block> blocks_;
  std::string head_;
  size_t head_line_ = 0;
  Findings findings_;
};

}  // namespace

Findings files_are_short(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (file.is_cpp() && file.lines.size() > kFileLinesMax) {
      findings.push_back({file.path, 0, "file-length",
                          std::to_string(file.lines.size()) + " lines; one concept has at most " +
                              std::to_string(kFileLinesMax)});
    }
  }
  return findings;
}

Findings functions_fit_a_screen(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp()) continue;
    Findings of_file = BraceWalker(file).long_functions();
    findings.insert(findings.end(), of_file.begin(), of_file.end());
  }
  return findings;
}

Findings lines_fit(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const size_t width = columns(file.lines[i]);
      if (width > kColumnsMax) {
        findings.push_back({file.path, i + 1, "line-length", std::to_string(width) + " columns"});
      }
    }
  }
  return findings;
}

Findings nothing_is_left_to_do(const SourceTree& tree) {
  // Put together, so that this file has none of them.
  static const std::regex kMark(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X|HA"
      "CK)\\b");
  Findings findings;
  for (const SourceFile& file : tree.files) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(file.lines[i], match, kMark)) {
        findings.push_back({file.path, i + 1, "left-to-do", match.str()});
      }
    }
  }
  return findings;
}

Findings names_say_something(const SourceTree& tree) {
  static const std::regex kEmpty(
      R"((^|[/_.-])(util|utils|common|manager|helper|helpers|misc)($|[/_.-]))");
  Findings findings;
  for (const SourceFile& file : tree.files) {
    std::smatch match;
    if (std::regex_search(file.path, match, kEmpty)) {
      findings.push_back({file.path, 0, "empty-name", "\"" + match.str(2) + "\" says nothing"});
    }
  }
  return findings;
}

Findings headers_guard_themselves(const SourceTree& tree) {
  Findings findings;
  for (const SourceFile& file : tree.files) {
    if (!file.is_header()) continue;
    if (std::find(file.lines.begin(), file.lines.end(), "#pragma once") == file.lines.end()) {
      findings.push_back({file.path, 0, "pragma-once", "is missing"});
    }
  }
  return findings;
}

}  // namespace morula::tidy
