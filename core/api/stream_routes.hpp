// The Durable Streams protocol on top of `Streams`: headers and query in, status and headers out.
//
//  status  code                     when
//  200                              GET, HEAD; PUT of a stream that exists with the same media type
//                                   and expiry; append of a producer
//  201                              PUT created the stream (Location)
//  204                              append without producer; a producer's duplicate; DELETE
//  304                              GET whose If-None-Match names the answer's ETag
//  307     moved                    another instance serves it, and the request is pinned
//                                   (`Streams-Pin: redirect`) or has been passed on before
//  400     invalid_path             empty, too long, no UTF-8, control characters, "." or ".."
//  400     invalid_target           no path, or a broken %-escape
//  400     invalid_query            a parameter twice, live without offset, an unknown live mode
//  400     invalid_offset           not -1, now or an offset; beyond the tail; not between messages
//  400     invalid_header           a header twice, or its value is not what the message says;
//                                   Stream-TTL beside Stream-Expires-At; some but not all of the
//                                   Producer- headers
//  400     invalid_content_type     missing on an append, or no content type
//  400     invalid_json             a JSON stream, but the body is no JSON or an empty append
//  400     empty_append             POST without a body
//  400     epoch_not_at_zero        a producer's new epoch does not begin with seq 0
//  403     stale_epoch              a later epoch has written (Producer-Epoch: the current one)
//  404     stream_not_found         never created, deleted, or past its deadline
//  404     not_found                no such route
//  405     method_not_allowed       (Allow)
//  409     stream_exists            PUT: another media type or expiry
//  409     content_type_mismatch    append: another media type than the stream's
//  409     sequence_gap             (Producer-Expected-Seq, Producer-Received-Seq)
//  409     sequence_regression      Stream-Seq is not above the stream's last (scope: the stream)
//  409     offset_mismatch          Stream-Expected-Offset is not the tail (Stream-Next-Offset: it)
//  413     too_large                the body is over `append_bytes_max`
//  500     damaged                  rows of the stream are damaged or missing in the bucket
//  500     stream_id_collision      two paths have one StreamId
//  501     live_unsupported         live=long-poll and live=sse
//  501     close_unsupported        Stream-Closed: true, of a PUT or POST; nothing was done
//  501     fork_unsupported         Stream-Forked-From or Stream-Fork-Offset; nothing was done
//  503     moving                   nobody serves it right now; nothing was done
//  503     outcome_unknown          a change may have been carried out, or may still be
//  503     append_memory_busy, read_memory_busy   a bound was reached; nothing was done
//  503     connections_busy         of a read that is passed on: too many such bodies are under way
//  503     store_unavailable        nothing was done
//
// A producer that the stream doesn't know begins with seq 0; any other is a gap (409). Every 503
// has Retry-After. An offset that another generation of the path gave out is checked like any
// other.
//
// `Stream-Generation` on every success says which creation of the path the answer is about: it is
// higher after each delete and re-creation.
//
// `Morula-Tenant` names the tenant (1 to 64 of A-Z a-z 0-9 . _ -), "default" without it.
//
// A HEAD is answered from the stream's row alone: how long the body of a GET would be depends on
// where its appends end, so there is no Content-Length then. The tail's byte position is what the
// stream has had, in `Stream-Next-Offset`. A HEAD's error has the length that the GET's would have.
//
// `Stream-TTL` slides: it counts from the last GET that was answered from the stream (200, 304, or
// 400 for an offset that it does not have), or the last POST that succeeded, a producer's duplicate
// included. HEAD, a PUT that finds the stream, and a POST that is refused don't count, nor does a
// read that a cache answered. Where the protocol
// is silent: a stream past its deadline is 404 to all, as if it had never been there, and a PUT
// creates it anew; HEAD and PUT show the seconds that are left, rounded up. After a crash a stream
// may be there for up to an eighth of its TTL longer. A GET whose renewal has to be written waits
// for that, and is 503 while the store takes no writes. `Stream-Expires-At` never moves.
//
// Answers that reach the tail are to be revalidated by their ETag before a cache uses them; those
// that a later append can't change may be used for a minute, but not past the stream's deadline.
#pragma once

#include <string>

#include "core/api/target.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"
#include "core/stream/limits.hpp"
#include "core/stream/streams.hpp"

namespace morula {

/// The stream that a request is about; the request outlives it.
struct StreamTarget {
  const RequestTarget& target;
  std::string_view tenant;
  std::string path;  // decoded
  StreamHash hash;
};

struct StreamResponse {
  HttpResponse http;
  bool moving = false;  // nothing was done: this instance doesn't serve the stream (any more)
};

/// Carries out `request`, whose method is one of GET, HEAD, PUT, POST and DELETE. Suspends; throws
/// Cancelled.
StreamResponse serve_stream(const Env& env, const StreamLimits& limits, Streams& streams,
                            const StreamTarget& target, const HttpRequest& request);

/// URL of the stream as the client of `request` knows it: absolute if it said a Host.
std::string stream_url(const HttpRequest& request, std::string_view path);

}  // namespace morula
