// What a shard begins with at a new owner.
#pragma once

#include <string>

#include "core/base/prefix.hpp"
#include "core/base/units.hpp"
#include "core/log/log_writer.hpp"
#include "core/lsm/manifest.hpp"
#include "core/store/versioned.hpp"

namespace morula {

/// A shard that the topology has named as this incarnation's, with the manifest that it named then.
struct AdoptedShard {
  Prefix prefix;
  Epoch epoch;
  std::string manifest_key;
  Versioned<Manifest> manifest;
  LogPin from;  // where the own open entry of the manifest begins
};

}  // namespace morula
