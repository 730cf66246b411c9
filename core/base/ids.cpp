#include "core/base/ids.hpp"

#include <xxhash.h>

#include <algorithm>
#include <charconv>

#include "core/base/codec.hpp"

namespace morula {

namespace {

constexpr std::string_view kBase32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kUlidText = 26;
constexpr std::string_view kHexDigits = "0123456789abcdef";

/// 192 bytes that depend on every bit of `secret`, independent for each `use`. XXH3's own secret
/// generator is not part of its stable interface, and ids are kept for good.
std::array<uint8_t, 192> expand(const HashSecret& secret, std::string_view use) {
  std::string seed(use);
  seed.append(reinterpret_cast<const char*>(secret.data()), secret.size());
  std::array<uint8_t, 192> expanded{};
  for (size_t i = 0; i < expanded.size(); i += 8) {
    uint64_t word = XXH3_64bits_withSeed(seed.data(), seed.size(), i);
    for (size_t j = 0; j < 8; ++j, word >>= 8) expanded[i + j] = static_cast<uint8_t>(word);
  }
  return expanded;
}

}  // namespace

Result<Ulid> Ulid::parse(std::string_view text) {
  // 26 digits hold 130 bits, so the first is at most 7. One id has one text: no lower case.
  bool valid = text.size() == kUlidText && text[0] <= '7';
  Ulid ulid;
  for (size_t i = 0; valid && i < kUlidText; ++i) {
    const size_t digit = kBase32.find(text[i]);
    valid = digit != std::string_view::npos;
    ulid.high = ulid.high << 5 | ulid.low >> 59;
    ulid.low = ulid.low << 5 | (digit & 31);
  }
  if (!valid) return fail(ErrorCode::kCorrupt, "not a ULID of 26 base 32 digits");
  return ulid;
}

std::string Ulid::text() const {
  std::string text(kUlidText, '0');
  uint64_t rest_high = high;
  uint64_t rest_low = low;
  for (size_t i = kUlidText; i-- > 0;) {
    text[i] = kBase32[rest_low & 31];
    rest_low = rest_low >> 5 | rest_high << 59;
    rest_high >>= 5;
  }
  return text;
}

Result<IncarnationId> IncarnationId::parse(std::string_view text) {
  const auto malformed = [] {
    return fail(ErrorCode::kCorrupt, "not an incarnation: NAME-ULID, the name of a-z, 0-9 and -");
  };
  if (text.size() < kUlidText + 2) return malformed();
  const std::string_view name = text.substr(0, text.size() - kUlidText - 1);
  const auto ulid = Ulid::parse(text.substr(text.size() - kUlidText));
  if (!ulid || text[name.size()] != '-' || !is_valid_instance_name(name)) return malformed();
  return IncarnationId{std::string(name), *ulid};
}

std::string IncarnationId::text() const {
  return name + "-" + ulid.text();
}

bool is_valid_instance_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

StreamIdText::StreamIdText(StreamId id) {
  size_t at = 0;
  for (const uint64_t half : {id.high, id.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text_[at++] = kHexDigits[half >> shift & 0xf];
  }
}

std::string StreamId::text() const {
  return std::string(StreamIdText(*this));
}

Result<StreamId> StreamId::parse(std::string_view text) {
  StreamId id;
  const char* const middle = text.data() + text.size() / 2;
  const char* const end = text.data() + text.size();
  const bool valid = text.size() == 32 &&
                     text.find_first_not_of(kHexDigits) == std::string_view::npos &&
                     std::from_chars(text.data(), middle, id.high, 16).ptr == middle &&
                     std::from_chars(middle, end, id.low, 16).ptr == end;
  if (!valid) return fail(ErrorCode::kCorrupt, "not a stream's id of 32 hex digits");
  return id;
}

StreamHasher::StreamHasher(const HashSecret& secret)
    : id_secret_(expand(secret, "id")), check_secret_(expand(secret, "check")) {}

StreamHash StreamHasher::operator()(std::string_view tenant, std::string_view path) const {
  both_.clear();
  Encoder encoder(both_);
  encoder.string(tenant);  // with its length: ("ab", "c") is not ("a", "bc")
  encoder.raw(path);
  const XXH128_hash_t id =
      XXH3_128bits_withSecret(both_.data(), both_.size(), id_secret_.data(), id_secret_.size());
  return StreamHash{
      .id = {.high = id.high64, .low = id.low64},
      .check = XXH3_64bits_withSecret(both_.data(), both_.size(), check_secret_.data(),
                                      check_secret_.size()),
  };
}

}  // namespace morula
