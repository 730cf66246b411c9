// How the descriptors that the process may have are shared out, so that no number of clients takes
// those that the store and the lease need.
#pragma once

#include <cstddef>

#include "prod/http/http_server.hpp"

namespace morula {

/// For files, the store, calls that are answered in one piece, and the rest.
inline constexpr size_t kOtherDescriptors = 256;

/// Lowers the bounds of `http` to what `descriptors` leave for clients. Returns how many bodies may
/// come in pieces from other instances at once: each has a connection of its own, besides that of
/// the client to whom it goes.
size_t plan_descriptors(HttpServerConfig& http, size_t descriptors);

}  // namespace morula
