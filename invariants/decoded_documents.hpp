// Manifests and topologies as the checkers read them: each body is decoded once, however many
// checkers look at it and however often. Decoding is most of what a check of a document costs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/lsm/manifest.hpp"
#include "core/topology/topology.hpp"

namespace morula::invariants {

class DecodedDocuments {
 public:
  /// The errors are the decoders': nothing is remembered of a damaged body.
  Result<std::shared_ptr<const Manifest>> manifest(std::string_view body);
  Result<std::shared_ptr<const Topology>> topology(std::string_view body);

 private:
  void forget_unused();

  std::map<uint64_t, std::shared_ptr<const Manifest>> manifests_;  // by checksum of the body
  std::pair<uint64_t, std::shared_ptr<const Topology>> topology_;  // the last one; the same
  size_t forget_at_ = 64;                                          // manifests
};

}  // namespace morula::invariants
