// Listing.
//
// The index says which streams were created and not deleted. A stream that expires ends without a
// change, so of one whose first deadline is over its hot row must tell whether it was renewed: only
// those cost a look each.
#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/rt/concurrently.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

namespace {

// A page may lie behind many rows of streams that are gone: it ends here, and the next goes on.
constexpr size_t kRowsMax = 16 * size_t{1024};
constexpr size_t kLooksAtOnce = 16;

}  // namespace

struct Streams::Impl::ListedRow {
  StreamId id;
  Generation generation;
  std::string path;
  IndexRow row;
  bool there = false;
};

Result<> Streams::Impl::scan_listed(const ListRequest& request, std::vector<ListedRow>& rows_found,
                                    std::optional<std::string>& next) {
  RangeScan scan{row_key::listing_begin(request.tenant, request.prefix),
                 row_key::listing_end(request.tenant, request.prefix)};
  if (!request.after.empty()) {
    scan.from = std::max(scan.from, row_key::listing_after(request.tenant, request.after));
  }
  std::string path;  // of the last row
  size_t seen = 0;
  return rows.scan_index(request.shard, scan, [&](const RowView& row) -> Result<bool> {
    const auto key = row_key::parse(Tree::kIndex, row.key);
    MORULA_TRY(key);
    if (++seen > kRowsMax) {
      next = path;
      return false;
    }
    // The newest generation of a path comes first, and hides the others.
    if (key->path == path) return true;
    if (!row.deleted && rows_found.size() == request.limit) {
      next = path;
      return false;
    }
    path = key->path;
    if (row.deleted) return true;
    auto value = decode_index(row.value);
    MORULA_TRY(value);
    rows_found.push_back({key->id, key->generation, path, *std::move(value)});
    return true;
  });
}

Result<bool> Streams::Impl::is_there(const ListedRow& row) {
  if (!row.row.first_deadline || rows.wall() < *row.row.first_deadline) return true;
  auto opened = open(row.id);
  if (!opened) return fail(std::move(opened).error());
  StreamState& state = **opened;
  if (!state.newest) return false;
  const auto now = settle({row.id, state.newest->hot.check}, state, Access::kLooks);
  MORULA_TRY(now);
  env.trace.sometimes("a listing left out a stream that had expired", !exists(state, *now));
  return exists(state, *now) && state.newest->generation == row.generation;
}

namespace {

Unserved not_served(Prefix shard) {
  return {{ErrorCode::kMoved, "shard " + shard.text() + " is not served here any more"}};
}

}  // namespace

ListOutcome Streams::Impl::list(const ListRequest& request) {
  std::vector<ListedRow> found;
  Listed listed;
  if (auto scanned = scan_listed(request, found, listed.next); !scanned) {
    return Unserved{std::move(scanned).error()};
  }
  const auto looked = for_each_concurrently(found.size(), kLooksAtOnce, [&](size_t i) -> Result<> {
    const auto there = is_there(found[i]);
    MORULA_TRY(there);
    found[i].there = *there;
    return {};
  });
  if (!looked) return Unserved{looked.error()};
  for (ListedRow& row : found) {
    if (!row.there) continue;
    listed.streams.push_back(
        {std::move(row.path), row.generation, std::move(row.row.content_type), row.row.created});
  }
  // What the answer shows, streams that are not in it included, came with changes up to here.
  if (!rows.serves(request.shard)) return not_served(request.shard);
  auto reflects = rows.applied(request.shard);
  if (mutated(Mutant::listing_before_durable)) reflects = std::nullopt;
  if (auto confirmed = confirm(reflects, ShardRows::Wrote::kNo); !confirmed) {
    return Unserved{std::move(confirmed).error()};
  }
  if (!rows.serves(request.shard)) return not_served(request.shard);
  return listed;
}

}  // namespace morula
