#include "core/base/document.hpp"

#include "core/base/codec.hpp"

namespace morula {

namespace {

// The end of every document: `,\n  "checksum": "0123456789abcdef"\n}\n`. It covers all bytes
// before.
constexpr std::string_view kSumBegins = ",\n  \"checksum\": \"";
constexpr std::string_view kSumEnds = "\"\n}\n";
constexpr size_t kSumDigits = 16;
constexpr size_t kSealBytes = kSumBegins.size() + kSumDigits + kSumEnds.size();

std::string seal_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  uint64_t sum = checksum(text);
  std::string seal(kSumBegins);
  seal.append(kSumDigits, '0').append(kSumEnds);
  for (size_t i = kSumBegins.size() + kSumDigits; i-- > kSumBegins.size(); sum >>= 4) {
    seal[i] = kDigits[sum & 15];
  }
  return seal;
}

bool is_sealed(std::string_view text) {
  if (text.size() < kSealBytes) return false;
  const size_t covered = text.size() - kSealBytes;
  return text.substr(covered) == seal_of(text.substr(0, covered));
}

}  // namespace

std::string encode_document(const DocumentFormat& format, Json::Object members) {
  members["kind"] = std::string(format.kind);
  members["format"] = format.format;
  std::string text = Json(std::move(members)).pretty();
  text.resize(text.size() - std::string_view("\n}\n").size());
  return text + seal_of(text);
}

Result<Json> open_document(const DocumentFormat& format, std::string_view text) {
  auto parsed = Json::parse(text);
  MORULA_TRY(parsed);
  if (parsed->as_object() == nullptr) return fail(ErrorCode::kCorrupt, "must be a JSON object");
  auto kind = parsed->string_at("kind");
  MORULA_TRY(kind);
  if (*kind != format.kind) {
    return fail(ErrorCode::kCorrupt,
                "kind is \"" + *kind + "\", expected \"" + std::string(format.kind) + "\"");
  }
  auto number = parsed->u64_at("format");
  MORULA_TRY(number);
  if (*number != format.format) {
    return fail(ErrorCode::kCorrupt, "format is " + std::to_string(*number) +
                                         ", this version of morula reads " +
                                         std::to_string(format.format));
  }
  if (!is_sealed(text)) {
    return fail(ErrorCode::kCorrupt,
                "checksum does not match: the document is damaged or was edited by hand");
  }
  for (const char* name : {"kind", "format", "checksum"}) parsed->as_object()->erase(name);
  return parsed;
}

MemberReader::MemberReader(const Json& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (object.as_object() == nullptr) wrong("", "must be an object");
}

std::string MemberReader::string(std::string_view name) {
  const Json* member = take(name);
  const std::string* text = member == nullptr ? nullptr : member->as_string();
  if (text != nullptr) return *text;
  wrong(name, "must be a string");
  return {};
}

uint64_t MemberReader::number(std::string_view name, uint64_t min, uint64_t max) {
  const Json* member = take(name);
  const uint64_t* value = member == nullptr ? nullptr : member->as_u64();
  if (value != nullptr && *value >= min && *value <= max) return *value;
  wrong(name, "must be a whole number of " + std::to_string(min) + " to " + std::to_string(max));
  return min;
}

bool MemberReader::boolean(std::string_view name) {
  const Json* member = take(name);
  const bool* value = member == nullptr ? nullptr : member->as_bool();
  if (value != nullptr) return *value;
  wrong(name, "must be true or false");
  return false;
}

Json::Array MemberReader::array(std::string_view name) {
  const Json* member = take(name);
  const Json::Array* items = member == nullptr ? nullptr : member->as_array();
  if (items != nullptr) return *items;
  wrong(name, "must be an array");
  return {};
}

Json MemberReader::object(std::string_view name) {
  const Json* member = take(name);
  if (member != nullptr && member->as_object() != nullptr) return *member;
  wrong(name, "must be an object");
  return Json(Json::Object{});
}

const Json* MemberReader::take(std::string_view name) {
  ++taken_;
  return object_.find(name);
}

void MemberReader::wrong(std::string_view name, std::string_view what) {
  if (error_.empty()) error_ = path_of(name) + " " + std::string(what);
}

std::string MemberReader::path_of(std::string_view name) const {
  if (path_.empty() || name.empty()) return path_ + std::string(name);
  return path_ + "." + std::string(name);
}

Result<> MemberReader::finish() const {
  if (!error_.empty()) return fail(ErrorCode::kCorrupt, error_);
  const Json::Object* members = object_.as_object();
  if (members != nullptr && members->size() > taken_) {
    return fail(ErrorCode::kCorrupt,
                path_ + (path_.empty() ? "it" : "") + " has members that its format does not know");
  }
  return {};
}

}  // namespace morula
