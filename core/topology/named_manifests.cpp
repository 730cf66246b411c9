#include "core/topology/named_manifests.hpp"

#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"
#include "core/store/read_document.hpp"
#include "core/topology/topology_document.hpp"

namespace morula {

namespace {

constexpr size_t kReadsAtOnce = 16;

}  // namespace

Result<std::optional<NamedManifests>> read_named_manifests(
    const Env& env, const RetryConfig& retry, Purpose purpose,
    const std::function<bool(const TopologyShard&)>& wants) {
  std::optional<Version> incomplete;  // of the topology that named what was gone
  for (;;) {
    auto topology = read_topology(env, retry, purpose);
    MORULA_TRY(topology);
    if (!*topology) return std::nullopt;
    NamedManifests named{std::move((*topology)->content), {}};
    const std::vector<TopologyShard>& rows = named.topology.shards;
    named.manifests.resize(rows.size());
    const std::string* gone = nullptr;
    const auto done = for_each_concurrently(rows.size(), kReadsAtOnce, [&](size_t i) -> Result<> {
      if (wants && !wants(rows[i])) return {};
      auto manifest = read_document(env, rows[i].manifest, purpose, retry, decode_manifest);
      MORULA_TRY(manifest);
      if (*manifest) {
        named.manifests[i] = std::move((*manifest)->content);
      } else {
        gone = &rows[i].manifest;
      }
      return {};
    });
    MORULA_TRY(done);
    if (gone == nullptr) return named;
    env.trace.sometimes("a manifest was collected between topology and manifest", true);
    if (incomplete == named.topology.version) {
      return fail(ErrorCode::kCorrupt, *gone + ": the topology names it, but it is gone");
    }
    incomplete = named.topology.version;
  }
}

}  // namespace morula
