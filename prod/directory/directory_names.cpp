#include "prod/directory/directory_names.hpp"

#include <fmt/format.h>

#include <iterator>

namespace morula {
namespace {

constexpr size_t kKeyBytesMax = 1024;
// A file name has at most 255 bytes; one is for the '@' of the versions' folder.
constexpr size_t kNameBytesMax = 254;

bool stands_for_itself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

std::string name_of_segment(std::string_view segment) {
  if (segment == ".") return "%2E";
  if (segment == "..") return "%2E%2E";
  std::string name;
  for (const char c : segment) {
    if (stands_for_itself(c)) {
      name.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(name), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::string> path_of_key(std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return fail(ErrorCode::kInvalid, "a key has 1 to 1024 bytes");
  }
  std::string path;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('/', begin), key.size());
    const std::string name = name_of_segment(key.substr(begin, end - begin));
    if (name.empty() || name.size() > kNameBytesMax) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("key '{}': in a directory store each part between slashes becomes a "
                              "file name of 1 to {} bytes",
                              key, kNameBytesMax));
    }
    if (!path.empty()) path.push_back('/');
    path += name;
    begin = end + 1;
  }
  return path;
}

std::optional<std::string> segment_of_name(std::string_view name) {
  std::string segment;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      segment.push_back(name[i]);
      continue;
    }
    if (i + 2 >= name.size()) return std::nullopt;
    const int high = hex_digit(name[i + 1]);
    const int low = hex_digit(name[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    segment.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  // One name per segment: what would be written otherwise is not ours.
  if (segment.empty() || name_of_segment(segment) != name) return std::nullopt;
  return segment;
}

bool is_key_path(std::string_view path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (!segment_of_name(path.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace morula
