// The manifests that follow a sealed one (OWNERSHIP R3c, R4 to R6): the same rows, divided, joined
// or given to another owner. Pure; the results are unsealed and of no version yet.
#pragma once

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/units.hpp"
#include "core/lsm/manifest.hpp"

namespace morula {

/// What `child`, a part of the shard, has of it: entries narrowed to it, disjoint ones dropped, the
/// mark copied. Of tables those stay out whose streams all lie elsewhere.
Manifest narrowed(const Manifest& sealed, Prefix child);
/// Siblings as one shard: all entries, each under its clip as it is. (why: a wider clip would bring
/// back rows that one of the two has dropped.) The higher mark and floor.
/// A table that both name, each for its half, is named once, for both halves.
Manifest merged(const Manifest& low, const Manifest& high);
/// The open entries of `incarnation` end at `to`, empty ones go.
void close_logs(Manifest& manifest, const IncarnationId& incarnation, LogSeq to);
/// The shard `prefix` at its next owner, whose own entry begins at `from`; what `owner` had in its
/// log ends at `to`.
Manifest handed_over(const Manifest& sealed, Prefix prefix, const IncarnationId& owner, LogSeq to,
                     const IncarnationId& next_owner, LogSeq from);
/// The same once more, to be changed again.
Manifest unsealed(Manifest sealed);
/// The lowest `from` of the open entries of `incarnation`; nullopt: it has none.
std::optional<LogSeq> open_from(const Manifest& manifest, const IncarnationId& incarnation);

}  // namespace morula
