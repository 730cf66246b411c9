// `morula serve`: puts the outside world together and runs instances in it, one after another.
#pragma once

#include "prod/options.hpp"

namespace morula {

/// Serves until SIGTERM or SIGINT (0), or until something makes serving impossible (1; what and
/// what to do is on stderr).
int serve(const ServeOptions& options);

}  // namespace morula
