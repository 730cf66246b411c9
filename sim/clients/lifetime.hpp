// How long a path's streams live: all clients agree, because the path says it. "ttl-2/" is a TTL of
// two seconds, "at-3/" a time of expiry about three seconds after the creation.
#pragma once

#include <string>
#include <string_view>

#include "core/rt/random.hpp"
#include "invariants/history.hpp"

namespace morula::sim {

/// A part of a path, or nothing: `mortal_percent` of those drawn have one.
std::string lifetime_folder(Random& random, uint32_t mortal_percent);
bool is_mortal(std::string_view path);
/// What a create of that path asks for, at `now` on the client's clock.
void set_lifetime(std::string_view path, WallTime now, invariants::Request& create);

}  // namespace morula::sim
