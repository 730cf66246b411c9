// The same work on many things at once, in a bounded number of fibers.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "core/base/result.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

/// With so many fibers in the process (4,096 requests, say, that look into eight tables each), work
/// is done by those that there are.
inline constexpr size_t kFibersForHelp = 8000;

/// Calls `body(i)` (a Result<>) for each i below `count`, at most `width` at a time, one of them in
/// the calling fiber; one after the other when the process has `kFibersForHelp`. After an error no
/// further call begins; the first one is returned once all that had begun have ended. Suspends
/// where `body` does; throws Cancelled.
template <class Body>
Result<> for_each_concurrently(size_t count, size_t width, Body&& body) {
  if (count == 0) return {};
  if (count == 1) return body(size_t{0});
  size_t next = 0;
  size_t fibers = 0;
  std::optional<Error> failed;
  // Each starts the next one, which runs only once this one has suspended, and finds out then
  // whether work is left: a body that never suspends costs one fiber, not `width` of them.
  const auto work = [&](Scope& scope, const auto& again) -> void {
    const bool helps = Domain::current().live() < kFibersForHelp;
    if (count - next > 1 && !failed && helps && ++fibers < width) {
      scope.spawn("concurrently", [&scope, &again] { again(scope, again); });
    }
    while (next < count && !failed) {
      auto done = body(next++);
      if (!done && !failed) failed = std::move(done).error();
    }
  };
  with_scope(Domain::current(), [&](Scope& scope) {
    work(scope, work);
    scope.join();
  });
  if (failed) return fail(std::move(*failed));
  return {};
}

}  // namespace morula
