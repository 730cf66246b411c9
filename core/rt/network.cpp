#include "core/rt/network.hpp"

#include <algorithm>

namespace morula {
namespace {

// Most requests and answers have no more: their fields are allocated once.
constexpr size_t kFieldsExpected = 8;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

void Headers::add(std::string name, std::string value) {
  if (fields_.empty()) fields_.reserve(kFieldsExpected);
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string_view name, std::string value) {
  auto field = std::find_if(fields_.begin(), fields_.end(),
                            [&](const auto& f) { return same_name(f.first, name); });
  if (field == fields_.end()) return add(std::string(name), std::move(value));
  field->second = std::move(value);
  fields_.erase(std::remove_if(field + 1, fields_.end(),
                               [&](const auto& f) { return same_name(f.first, name); }),
                fields_.end());
}

void Headers::erase(std::string_view name) {
  std::erase_if(fields_, [&](const auto& f) { return same_name(f.first, name); });
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (same_name(field, name)) return &value;
  }
  return nullptr;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(
      fields_.begin(), fields_.end(), [&](const auto& f) { return same_name(f.first, name); }));
}

}  // namespace morula
