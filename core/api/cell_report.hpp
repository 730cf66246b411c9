// What the routes of /v1/cell tell of the cell.
#pragma once

#include <string>
#include <vector>

#include "core/api/cell_control.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"
#include "core/topology/served_plan.hpp"

namespace morula {

/// What is under way in all of the cell, as far as its members have told.
struct CellMoves {
  std::vector<ShardMove> moves;     // in the order of the topology
  std::vector<std::string> silent;  // names of live owners that did not answer
};

/// Of this and every other live instance that owns a shard; each is asked once, a few at a time,
/// and waited for a bounded time. What they say of others' shards is not believed. Suspends;
/// throws Cancelled.
CellMoves gather_moves(const Env& env, const CellView& view);

/// Names of the live members, sorted.
std::vector<std::string> live_names(const CellView& view);

/// The body of `GET /v1/cell`.
std::string report_of(const CellView& view, const CellMoves& moves);
/// The same where another instance asks: what this one alone knows.
std::string report_of(const std::vector<CellView::Move>& own);
/// {"version","bucket","owner","address"}, and "to" while the stream's shard is on its way there.
/// Without "address" the owner is gone, and another takes over.
std::string report_of(const CellView& view, const CellMoves& moves, StreamId stream);

}  // namespace morula
