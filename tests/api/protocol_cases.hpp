// Conversations with the HTTP surface, as data: tests/api/protocol/*.txt.
//
//   === A title: a sentence about behaviour
//   PUT /v1/stream/a            method and target; {name} is what was bound before
//   Content-Type: text/plain    headers
//   | first content             the body, if any; several lines are joined by line breaks
//   -> 201                      status, and the code if it is an error
//   Stream-Next-Offset: @1/13   a header that must be there; @messages/bytes is an offset
//   ETag: {etag}                binds `etag`, or must be what is bound
//   X: *                        must be there
//   !Location                   must not be there
//   | body                      the body must be this; without a line it is not looked at
//   wait 10s                    time passes
//
// In bodies and targets \xHH is a byte, and in bodies \n a line break. Lines that begin with # are
// comments.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/rt/network.hpp"

namespace morula {

struct ProtocolStep {
  int line = 0;
  int wait_seconds = 0;  // not 0: nothing but this
  HttpRequest request;
  int status = 0;
  std::string code;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> absent;
  std::optional<std::string> body;
};

struct ProtocolCase {
  std::string file;
  std::string title;
  std::vector<ProtocolStep> steps;

  friend std::ostream& operator<<(std::ostream& out, const ProtocolCase& one) {
    return out << one.file << ".txt: " << one.title;
  }
};

class ProtocolFile {
 public:
  explicit ProtocolFile(const std::filesystem::path& path) : name_(path.stem().string()) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) read(line);
  }
  std::vector<ProtocolCase> take() { return std::move(cases_); }

 private:
  void read(const std::string& line) {
    ++line_;
    if (line.starts_with("#")) return;
    if (line.empty()) {
      in_response_ = false;
      return;
    }
    if (line.starts_with("=== ")) {
      cases_.push_back({name_, line.substr(4), {}});
      in_response_ = false;
    } else if (line.starts_with("wait ")) {
      step().wait_seconds = std::stoi(line.substr(5));
    } else if (line.starts_with("-> ")) {
      ProtocolStep& current = cases_.back().steps.back();
      current.status = std::stoi(line.substr(3));
      if (line.size() > 7) current.code = line.substr(7);
      in_response_ = true;
      in_request_ = false;
    } else if (line.starts_with("|")) {
      add_body(line.size() > 2 ? line.substr(2) : "");
    } else if (!in_request_ && !in_response_) {
      ProtocolStep& next = step();
      const size_t space = line.find(' ');
      next.request.method = line.substr(0, space);
      next.request.target = unescape(line.substr(space + 1));
      in_request_ = true;
    } else {
      add_header(line);
    }
  }

  ProtocolStep& step() {
    ProtocolStep& next = cases_.back().steps.emplace_back();
    next.line = line_;
    return next;
  }

  void add_header(const std::string& line) {
    ProtocolStep& current = cases_.back().steps.back();
    if (line.starts_with("!")) return current.absent.push_back(line.substr(1));
    const size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    const std::string value = colon + 2 <= line.size() ? unescape(line.substr(colon + 2)) : "";
    if (in_response_) {
      current.headers.emplace_back(name, value);
    } else {
      current.request.headers.add(name, value);
    }
  }

  void add_body(const std::string& line) {
    ProtocolStep& current = cases_.back().steps.back();
    const std::string text = unescape(line);
    if (!in_response_) {
      current.request.body += (current.request.body.empty() ? "" : "\n") + text;
    } else {
      current.body = current.body ? *current.body + "\n" + text : text;
    }
  }

  static std::string unescape(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "\\x") == 0) {
        out.push_back(static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16)));
        i += 3;
      } else if (text.compare(i, 2, "\\n") == 0) {
        out.push_back('\n');
        ++i;
      } else if (text[i] == '@' && i + 1 < text.size() && isdigit(text[i + 1]) != 0) {
        out += offset(text, i);
      } else {
        out.push_back(text[i]);
      }
    }
    return out;
  }

  /// "@2/13" at `i`, which is moved to its last character.
  static std::string offset(const std::string& text, size_t& i) {
    size_t digits = 0;
    std::string out;
    for (const char after : {'_', '\0'}) {
      const std::string count = std::to_string(std::stoull(text.substr(i + 1), &digits));
      out += std::string(16 - count.size(), '0') + count;
      if (after != '\0') out.push_back(after);
      i += digits + (after != '\0' ? 1 : 0);
    }
    return out;
  }

  std::string name_;
  std::vector<ProtocolCase> cases_;
  int line_ = 0;
  bool in_request_ = false;
  bool in_response_ = false;
};

inline std::vector<ProtocolCase> all_protocol_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MORULA_SOURCE_DIR) +
                                                               "/tests/api/protocol")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ProtocolCase> cases;
  for (const auto& path : paths) {
    for (auto& one : ProtocolFile(path).take()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace morula
