// The cell as a whole, for operators and planners. Any instance answers; a change is passed on to
// the owner of the shard (core/api/cell_steps.hpp).
//
//   GET  /v1/cell                                      shards, members, moves under way
//   GET  /v1/cell/plan                                 the bucket plan that they amount to
//                                                      (core/topology/bucket_plan_document.hpp)
//   GET  /v1/cell/plan?path=a/b                        the part of it that the stream is in; the
//                                                      bucket of a stream never changes
//   POST /v1/cell/split  {"prefix":"01"}               one shard becomes its two halves
//   POST /v1/cell/merge  {"prefix":"0"}                shards 00 and 01 become 0; where they live
//                                                      apart, the second is moved first
//   POST /v1/cell/move   {"prefix":"0","to":"i2"}      the instance i2 gets the shard
//   POST /v1/cell/drain  {"instance":"i2"}             every shard of i2 goes to the live instance
//                                                      with fewest
//   POST /v1/cell/balance {}                           every live instance gets as many shards, or
//                                                      one more, by the fewest moves
//
// `prefix` is "root" or 1 to 12 of 0 and 1. Of moves, those are told that live owners know of;
// `silent` names the owners that did not answer; another instance is told `moves` alone. A change
// says what is to be: it is answered
// {"changed","version"} once it is so, with `changed` false if it was so before; `version` is of a
// topology that has it. Of drain and balance, `moved` and `left` say what became of each shard.
//
//  status  code               when
//  200
//  400     invalid_body       the body is not one JSON object of exactly those members
//  400     invalid_query      `path` is no path of a stream
//  400     invalid_header     as for streams (core/api/stream_routes.hpp)
//  404     no_such_shard, no_such_instance
//  405     method_not_allowed
//  409     refused            it can't be: a shard of 12 bits can't be split, one that long has no
//                             halves, or the owner refuses, and says why
//  409     divided            a half that is to be merged is itself divided
//  409     not_live           the instance is stopped or expired
//  409     nobody_else        there is no other live instance to drain to
//  413     too_large          more than 4 KiB
//  503     moving             the shard is changing hands, or its owner does not answer
//  503     cell_busy          its owner is busy with another change of it
//  503     drain_incomplete, balance_incomplete   some shards could not be moved now
//  503     outcome_unknown    the change may have been made; asking again is safe, and tells
//  503     store_unavailable
//  503     append_memory_busy, rss_shed           memory is short (core/api/stream_routes.hpp)
#pragma once

#include <cstdint>
#include <string>

#include "core/api/api.hpp"
#include "core/api/cell_control.hpp"
#include "core/api/cell_steps.hpp"
#include "core/rt/network.hpp"

namespace morula {

/// True for the paths of these routes, and for what lies below `/v1/cell/`.
bool is_cell_path(std::string_view raw_path);

class CellRoutes {
 public:
  /// Everything outlives the call of `run`. `hops`: of the request as it arrived.
  CellRoutes(const Env& env, const ApiConfig& config, const StreamHasher& hasher,
             CellControl& control, const RequestTarget& target, std::string_view tenant,
             const HttpRequest& request, uint64_t hops)
      : env_(env),
        config_(config),
        hasher_(hasher),
        control_(control),
        target_(target),
        what_(target.raw_path().substr(kCellPath.size())),
        tenant_(tenant),
        request_(request),
        hops_(hops) {}

  /// Suspends; throws Cancelled.
  HttpResponse run();

 private:
  HttpResponse show();
  HttpResponse show_plan();
  HttpResponse change(CellStep::Kind kind);
  HttpResponse drain();
  HttpResponse balance();

  const Env& env_;
  const ApiConfig& config_;
  const StreamHasher& hasher_;
  CellControl& control_;
  const RequestTarget& target_;
  const std::string_view what_;  // "", "/plan", "/split", ...
  const std::string_view tenant_;
  const HttpRequest& request_;
  const uint64_t hops_;
};

}  // namespace morula
