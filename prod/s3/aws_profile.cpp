#include "prod/s3/aws_profile.hpp"

#include <utility>

namespace morula {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

/// Without what follows a comment sign that stands after a blank.
std::string_view without_comment(std::string_view value) {
  for (size_t i = 1; i < value.size(); ++i) {
    if ((value[i] == '#' || value[i] == ';') && is_blank(value[i - 1])) return value.substr(0, i);
  }
  return value;
}

std::string_view section_name(std::string_view line) {
  constexpr std::string_view kProfile = "profile";
  const size_t end = line.find(']');
  std::string_view name = trimmed(line.substr(1, end == std::string_view::npos ? end : end - 1));
  if (name.starts_with(kProfile) && name.size() > kProfile.size() &&
      is_blank(name[kProfile.size()])) {
    name = trimmed(name.substr(kProfile.size()));
  }
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
    name = name.substr(1, name.size() - 2);
  }
  return name;
}

}  // namespace

AwsSections parse_aws_profiles(std::string_view text) {
  AwsSections sections;
  std::map<std::string, std::string, std::less<>>* section = nullptr;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      section = &sections[std::string(section_name(line))];
      continue;
    }
    const size_t equals = line.find('=');
    const bool nested = is_blank(whole.front());
    if (section == nullptr || nested || equals == std::string_view::npos) continue;
    (*section)[lower(trimmed(line.substr(0, equals)))] =
        std::string(trimmed(without_comment(line.substr(equals + 1))));
  }
  return sections;
}

}  // namespace morula
