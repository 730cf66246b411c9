#include "core/cell/cell_document.hpp"

#include "core/base/document.hpp"
#include "core/cell/stored_data.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

namespace {

constexpr DocumentFormat kFormat{"morula-cell", 1};
constexpr uint64_t kWindowMax = 64;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string to_hex(const HashSecret& secret) {
  std::string text;
  for (const uint8_t byte : secret) {
    text.push_back(kHexDigits[byte >> 4]);
    text.push_back(kHexDigits[byte & 15]);
  }
  return text;
}

Result<HashSecret> from_hex(std::string_view text) {
  HashSecret secret{};
  const auto bad = fail(ErrorCode::kCorrupt, "must be 64 digits of 0-9a-f");
  if (text.size() != 2 * secret.size()) return bad;
  for (size_t i = 0; i < secret.size(); ++i) {
    const size_t high = kHexDigits.find(text[2 * i]);
    const size_t low = kHexDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return bad;
    secret[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return secret;
}

HashSecret draw_secret(Random& random) {
  HashSecret secret{};
  for (uint8_t& byte : secret) byte = static_cast<uint8_t>(random.next() >> 56);
  return secret;
}

}  // namespace

std::string encode_cell(const CellDocument& cell) {
  return encode_document(kFormat, {{"cell", cell.cell.text()},
                                   {"window", cell.window},
                                   {"hash_secret", to_hex(cell.hash_secret)},
                                   {"writer", cell.writer.text()}});
}

Result<CellDocument> decode_cell(std::string_view text) {
  auto json = open_document(kFormat, text);
  MORULA_TRY(json);
  MemberReader in(*json);
  CellDocument cell;
  cell.cell = in.parsed("cell", Ulid::parse);
  cell.window = in.number("window", 1, kWindowMax);
  cell.hash_secret = in.parsed("hash_secret", from_hex);
  cell.writer = in.parsed("writer", IncarnationId::parse);
  MORULA_TRY(in.finish());
  return cell;
}

Result<CellDocument> open_cell(const Env& env, const RetryConfig& retry, const IncarnationId& self,
                               uint64_t window) {
  Result<> no_data;
  while (true) {
    auto found = read_document(env, keys::kCell, Purpose::kOwnership, retry, decode_cell);
    if (!found && found.error().code == ErrorCode::kCorrupt) {
      found.error().message += " (is this the directory or prefix of another program?)";
    }
    MORULA_TRY(found);
    if (*found) return std::move((*found)->content);
    MORULA_TRY(no_data);
    no_data = require_no_data(env, retry, keys::kCell);
    if (!no_data) continue;
    CellDocument fresh;
    fresh.cell = Ulid::draw(env.clock.wall(), env.random);
    fresh.window = window;
    fresh.hash_secret = draw_secret(env.random);
    fresh.writer = self;
    auto outcome =
        create_object(env, keys::kCell, make_blob(encode_cell(fresh)), Purpose::kOwnership, retry);
    MORULA_TRY(outcome);
    if (outcome->landed) return fresh;
  }
}

}  // namespace morula
