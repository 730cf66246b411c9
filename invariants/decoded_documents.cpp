#include "invariants/decoded_documents.hpp"

#include <algorithm>

#include "core/base/codec.hpp"

namespace morula::invariants {

Result<std::shared_ptr<const Manifest>> DecodedDocuments::manifest(std::string_view body) {
  const uint64_t sum = checksum(body);
  if (const auto known = manifests_.find(sum); known != manifests_.end()) return known->second;
  auto decoded = decode_manifest(body);
  MORULA_TRY(decoded);
  if (manifests_.size() >= forget_at_) forget_unused();
  auto shared = std::make_shared<const Manifest>(*std::move(decoded));
  manifests_.emplace(sum, shared);
  return shared;
}

Result<std::shared_ptr<const Topology>> DecodedDocuments::topology(std::string_view body) {
  const uint64_t sum = checksum(body);
  if (topology_.second && topology_.first == sum) return topology_.second;
  auto decoded = decode_topology(body);
  MORULA_TRY(decoded);
  topology_ = {sum, std::make_shared<const Topology>(*std::move(decoded))};
  return topology_.second;
}

/// Those that no checker holds have been replaced, or soon will be.
void DecodedDocuments::forget_unused() {
  std::erase_if(manifests_, [](const auto& known) { return known.second.use_count() == 1; });
  forget_at_ = std::max<size_t>(64, 2 * manifests_.size());
}

}  // namespace morula::invariants
