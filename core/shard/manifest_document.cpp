#include "core/shard/manifest_document.hpp"

#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"

namespace morula {

Result<Versioned<Manifest>> read_manifest(const Env& env, std::string_view key,
                                          const RetryConfig& retry) {
  auto object = get_object(env, key, Purpose::kOwnership, retry);
  MORULA_TRY(object);
  if (!*object) {
    return fail(ErrorCode::kCorrupt, std::string(key) + ": the topology names it, but it is gone");
  }
  auto manifest = decode_manifest(*(*object)->body);
  if (!manifest) {
    return fail(ErrorCode::kCorrupt, std::string(key) + ": " + manifest.error().message);
  }
  return Versioned<Manifest>{std::move(*manifest), (*object)->etag};
}

Manifest next_version(const Env& env, Manifest manifest, const IncarnationId& writer) {
  ++manifest.version;
  manifest.writer = writer;
  manifest.nonce = Ulid::draw(env.clock.wall(), env.random);
  return manifest;
}

}  // namespace morula
