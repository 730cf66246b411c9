#include "core/api/header_reader.hpp"

namespace morula {

namespace {

constexpr uint64_t kNumberMax = (uint64_t{1} << 53) - 1;
constexpr size_t kNumberDigitsMax = 16;

}  // namespace

std::optional<std::string_view> HeaderReader::text(std::string_view name) {
  const auto value = headers_.find(name);
  if (value && headers_.count(name) > 1) {
    reject("the header " + std::string(name) + " is there more than once");
    return std::nullopt;
  }
  return value;
}

std::optional<std::string_view> HeaderReader::short_text(std::string_view name,
                                                         uint64_t bytes_max) {
  const auto value = text(name);
  if (value && (value->empty() || value->size() > bytes_max)) {
    reject(std::string(name) + " has 1 to " + std::to_string(bytes_max) + " bytes");
    return std::nullopt;
  }
  return value;
}

std::optional<uint64_t> HeaderReader::number(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  uint64_t number = 0;
  bool ok = !value->empty() && value->size() <= kNumberDigitsMax;
  for (size_t i = 0; ok && i < value->size(); ++i) {
    const char c = (*value)[i];
    ok = c >= '0' && c <= '9';
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  if (!ok || number > kNumberMax) {
    reject(std::string(name) + " is a whole number from 0 to 9007199254740991, in digits");
    return std::nullopt;
  }
  return number;
}

void HeaderReader::reject(std::string message) {
  if (!wrong_) wrong_ = std::move(message);
}

}  // namespace morula
