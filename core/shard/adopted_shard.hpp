// What a shard begins with at a new owner.
#pragma once

#include <string>

#include "core/base/prefix.hpp"
#include "core/base/units.hpp"
#include "core/log/log_writer.hpp"
#include "core/lsm/manifest.hpp"
#include "core/store/versioned.hpp"

namespace morula {

/// A shard that the topology names, or is to name, with the manifest that it names then.
struct AdoptedShard {
  Prefix prefix;
  Epoch epoch;
  IncarnationId owner;
  std::string manifest_key;
  Versioned<Manifest> manifest;
  LogPin from;  // where the open entry of the manifest begins, if it is for the own log
};

}  // namespace morula
