#include "core/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace morula {

void check_failed(const char* expression, const char* file, int line,
                  const char* message) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, expression,
               *message == '\0' ? "" : ": ", message);
  std::abort();
}

}  // namespace morula
