// Listing a tenant's streams, wherever their shards are served.
//
//   GET /v1/streams?prefix=&after=&limit=
//     prefix   only streams whose path begins with it (default: all)
//     after    only streams whose path is above it, bytewise: `next` of the page before
//     limit    of the page, 1 to 1000 (default: 100)
//
//   {"streams":[{"path","generation","content_type","created"},...],"next":"..."}
//
// By path, bytewise, each stream once. `next` is there as long as there may be more; a page may be
// shorter than `limit` before. What a page shows was so while it was made; a stream that comes or
// goes between two pages may be in or not.
//
//  status  code               when
//  200
//  400     invalid_query      a parameter twice, or its value is not what the message says
//  400     invalid_header     as for streams (core/api/stream_routes.hpp)
//  405     method_not_allowed GET and HEAD only
//  500     damaged            rows of the index are damaged or missing in the bucket
//  503     moving             a shard is changing hands, or its owner does not answer: a listing
//                             never leaves out what it could not see
//  503     read_memory_busy, store_unavailable
//
// Every shard has some streams of every tenant, so a listing asks all of them. One instance is
// asked once for all shards that it serves: the same request with `Streams-Shards: 00,01,...`,
// which is answered from those shards alone, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api.hpp"
#include "core/base/json.hpp"
#include "core/base/result.hpp"

namespace morula {

inline constexpr std::string_view kShardsHeader = "Streams-Shards";

/// One page, or the part of it that some shards have.
struct ListPage {
  struct Entry {
    std::string path;
    Json::Object json;
  };
  std::vector<Entry> streams;
  std::optional<std::string> next;
};

class Lister {
 public:
  /// Everything outlives the call of `run`. `hops`: of the request as it arrived.
  Lister(const Env& env, const ApiConfig& config, Placement& placement, const RequestTarget& target,
         std::string_view tenant, const HttpRequest& request, uint64_t hops)
      : env_(env),
        config_(config),
        placement_(placement),
        target_(target),
        tenant_(tenant),
        request_(request),
        hops_(hops) {}

  /// Suspends; throws Cancelled.
  HttpResponse run();

 private:
  struct Part;
  Result<> read_query();
  Result<> read_shards();
  /// The answer; nullopt: a shard could not be seen, `unseen_` says which.
  std::optional<HttpResponse> attempt();
  /// Who has to be asked for which shards; nullopt: nobody is known for one.
  std::optional<std::vector<Part>> parts();
  /// False: another attempt may see it.
  bool ask(Part& part);
  bool ask_here(Part& part);
  bool ask_elsewhere(Part& part);

  const Env& env_;
  const ApiConfig& config_;
  Placement& placement_;
  const RequestTarget& target_;
  const std::string_view tenant_;
  const HttpRequest& request_;
  const uint64_t hops_;
  std::string prefix_;
  std::string after_;
  uint64_t limit_ = 0;
  std::vector<Prefix> asked_;  // of a request that was passed on: these shards only
  Time deadline_;
  std::string unseen_;
};

/// The first `limit` of all parts, each of which says everything up to its `next`.
ListPage merge_pages(std::vector<ListPage> parts, size_t limit);

}  // namespace morula
