#include "core/cell/cell_document.hpp"

#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

constexpr uint64_t kFormat = 1;
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
  const auto bad = fail(ErrorCode::kCorrupt, "hash_secret: must be 64 digits of 0-9a-f");
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
  return Json(Json::Object{{"format", kFormat},
                           {"cell", cell.cell.text()},
                           {"window", cell.window},
                           {"hash_secret", to_hex(cell.hash_secret)},
                           {"writer", cell.writer.text()}})
      .pretty();
}

Result<CellDocument> decode_cell(std::string_view text) {
  auto json = Json::parse(text);
  MORULA_TRY(json);
  auto format = json->u64_at("format");
  MORULA_TRY(format);
  if (*format != kFormat) {
    return fail(ErrorCode::kCorrupt, "format: " + std::to_string(*format) +
                                         " is not known to this version, which reads 1");
  }
  CellDocument document;
  auto cell = json->string_at("cell").and_then(Ulid::parse);
  MORULA_TRY(cell);
  document.cell = *cell;
  auto window = json->u64_at("window");
  MORULA_TRY(window);
  if (*window == 0 || *window > kWindowMax) {
    return fail(ErrorCode::kCorrupt, "window: must be 1 to " + std::to_string(kWindowMax));
  }
  document.window = *window;
  auto secret = json->string_at("hash_secret").and_then(from_hex);
  MORULA_TRY(secret);
  document.hash_secret = *secret;
  auto writer = json->string_at("writer").and_then(IncarnationId::parse);
  MORULA_TRY(writer);
  document.writer = *writer;
  return document;
}

Result<CellDocument> open_cell(const Env& env, const RetryConfig& retry, const IncarnationId& self,
                               uint64_t window) {
  auto found = get_object(env, keys::kCell, Purpose::kOwnership, retry);
  MORULA_TRY(found);
  Blob body;
  if (*found) {
    body = (*found)->body;
  } else {
    CellDocument fresh;
    fresh.cell = Ulid::draw(env.clock.wall(), env.random);
    fresh.window = window;
    fresh.hash_secret = draw_secret(env.random);
    fresh.writer = self;
    body = make_blob(encode_cell(fresh));
    auto outcome = create_object(env, keys::kCell, body, Purpose::kOwnership, retry);
    MORULA_TRY(outcome);
    if (!outcome->landed) body = outcome->body;
    if (body == nullptr)
      return fail(ErrorCode::kCorrupt, "cell.json: was deleted while it was read");
  }
  auto cell = decode_cell(*body);
  if (!cell) {
    return fail(ErrorCode::kCorrupt, "cell.json: " + cell.error().message +
                                         " (is this the directory or prefix of another program?)");
  }
  return cell;
}

}  // namespace morula
