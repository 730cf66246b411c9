#include "core/shard/manifest_document.hpp"

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/store/read_document.hpp"

namespace morula {

Result<Versioned<Manifest>> read_manifest(const Env& env, std::string_view key,
                                          const RetryConfig& retry, Purpose purpose) {
  auto manifest = read_document(env, key, purpose, retry, decode_manifest);
  MORULA_TRY(manifest);
  if (!*manifest) {
    return fail(ErrorCode::kCorrupt, std::string(key) + ": the topology names it, but it is gone");
  }
  return std::move(**manifest);
}

Manifest next_version(const Env& env, Manifest manifest, const IncarnationId& writer) {
  ++manifest.version;
  manifest.writer = writer;
  manifest.nonce = Ulid::draw(env.clock.wall(), env.random);
  return manifest;
}

}  // namespace morula
