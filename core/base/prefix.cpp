#include "core/base/prefix.hpp"

#include "core/base/check.hpp"

namespace morula {

namespace {
constexpr std::string_view kRoot = "root";
}  // namespace

Result<Prefix> Prefix::parse(std::string_view text) {
  Prefix prefix;
  if (text == kRoot) return prefix;
  if (text.empty() || text.size() > kMaxLength ||
      text.find_first_not_of("01") != std::string_view::npos) {
    return fail(ErrorCode::kCorrupt, "a shard prefix is \"root\" or 1 to 12 of the digits 0 and 1");
  }
  for (const char bit : text) {
    prefix.bits = static_cast<uint16_t>(prefix.bits << 1 | (bit == '1' ? 1 : 0));
  }
  prefix.length = static_cast<uint8_t>(text.size());
  return prefix;
}

std::string Prefix::text() const {
  if (length == 0) return std::string(kRoot);
  std::string text;
  for (int bit = length - 1; bit >= 0; --bit) text.push_back((bits >> bit & 1) != 0 ? '1' : '0');
  return text;
}

bool Prefix::contains(Prefix other) const {
  return other.length >= length && other.bits >> (other.length - length) == bits;
}

StreamId Prefix::first() const {
  return {length == 0 ? 0 : uint64_t{bits} << (64 - length), 0};
}

StreamId Prefix::last() const {
  return {length == 0 ? UINT64_MAX : first().high | (UINT64_MAX >> length), UINT64_MAX};
}

Prefix Prefix::child(bool bit) const {
  MORULA_CHECK(length < kMaxLength, "a prefix of full length has no halves");
  return {static_cast<uint16_t>(bits << 1 | (bit ? 1 : 0)), static_cast<uint8_t>(length + 1)};
}

Prefix Prefix::parent() const {
  MORULA_CHECK(length > 0, "the root is no half");
  return {static_cast<uint16_t>(bits >> 1), static_cast<uint8_t>(length - 1)};
}

Prefix Prefix::sibling() const {
  MORULA_CHECK(length > 0, "the root is no half");
  return {static_cast<uint16_t>(bits ^ 1), length};
}

bool Prefix::contains(StreamId id) const {
  return length == 0 || id.high >> (64 - length) == bits;
}

}  // namespace morula
