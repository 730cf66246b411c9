// Reads the headers of a request that may be there once, and keeps the first thing that is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/network.hpp"

namespace morula {

class HeaderReader {
 public:
  explicit HeaderReader(const Headers& headers) : headers_(headers) {}

  /// The value, a view into the headers; nullopt when the header is absent, or wrong.
  std::optional<std::string_view> text(std::string_view name);
  /// As `text`, with 1 to `bytes_max` bytes.
  std::optional<std::string_view> short_text(std::string_view name, uint64_t bytes_max);
  /// As `text`, in decimal digits, at most 2^53-1.
  std::optional<uint64_t> number(std::string_view name);
  /// As `text`, as `parse` understands it.
  template <class T>
  std::optional<T> parsed(std::string_view name, Result<T> (*parse)(std::string_view)) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto result = parse(*value);
    if (result) return std::move(*result);
    reject(std::move(result).error().message);
    return std::nullopt;
  }
  void reject(std::string message);

  /// What was wrong first; nullopt: nothing.
  const std::optional<std::string>& wrong() const { return wrong_; }

 private:
  const Headers& headers_;
  std::optional<std::string> wrong_;
};

}  // namespace morula
