#include "core/rt/network.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/check.hpp"

namespace morula {
namespace {

// Most requests and answers have no more: their fields are allocated once.
constexpr size_t kBytesExpected = 320;

struct Lengths {
  uint32_t name;
  uint32_t value;
};

Lengths lengths_at(const char* field) {
  Lengths lengths;
  std::memcpy(&lengths, field, sizeof(lengths));
  return lengths;
}

size_t field_bytes(const Headers::Field& field) {
  return sizeof(Lengths) + field.name.size() + field.value.size();
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

Headers::Field Headers::Iterator::operator*() const {
  const Lengths lengths = lengths_at(at_);
  const char* const name = at_ + sizeof(lengths);
  return {{name, lengths.name}, {name + lengths.name, lengths.value}};
}

Headers::Iterator& Headers::Iterator::operator++() {
  at_ += field_bytes(**this);
  return *this;
}

Headers::Iterator Headers::Iterator::operator++(int) {
  const Iterator before = *this;
  ++*this;
  return before;
}

void Headers::add(std::string_view name, std::string_view value) {
  MORULA_CHECK(name.size() <= UINT32_MAX && value.size() <= UINT32_MAX);
  if (fields_.empty()) fields_.reserve(kBytesExpected);
  const Lengths lengths{static_cast<uint32_t>(name.size()), static_cast<uint32_t>(value.size())};
  char bytes[sizeof(lengths)];
  std::memcpy(bytes, &lengths, sizeof(lengths));
  fields_.append(bytes, sizeof(bytes)).append(name).append(value);
}

void Headers::set(std::string_view name, std::string_view value) {
  if (!contains(name)) return add(name, value);
  Headers changed;
  bool given = false;
  for (const Field field : *this) {
    const bool named = same_name(field.name, name);
    if (!named || !given) changed.add(field.name, named ? value : field.value);
    given = given || named;
  }
  *this = std::move(changed);
}

void Headers::erase(std::string_view name) {
  for (Iterator at = begin(); at != end();) {
    if (same_name((*at).name, name)) {
      const auto offset = static_cast<size_t>(at.at_ - fields_.data());
      fields_.erase(offset, field_bytes(*at));
      at = Iterator(fields_.data() + offset);
    } else {
      ++at;
    }
  }
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const Field field : *this) {
    if (same_name(field.name, name)) return field.value;
  }
  return std::nullopt;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(
      begin(), end(), [&](const Field& field) { return same_name(field.name, name); }));
}

}  // namespace morula
