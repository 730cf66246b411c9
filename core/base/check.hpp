// Assertions about our own code. They stay on in production, where a failure prints its place and
// aborts; in simulation the abort ends the seed's process and so fails the seed.
#pragma once

namespace morula {

[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const char* message) noexcept;

}  // namespace morula

/// MORULA_CHECK(condition) or MORULA_CHECK(condition, "why it must hold").
#define MORULA_CHECK(condition, ...) \
  (static_cast<bool>(condition)      \
       ? static_cast<void>(0)        \
       : ::morula::check_failed(#condition, __FILE__, __LINE__, "" __VA_ARGS__))
