#include "core/api/stream_routes.hpp"

#include <algorithm>

#include "core/api/cursor.hpp"
#include "core/api/header_reader.hpp"
#include "core/api/responses.hpp"
#include "core/base/check.hpp"
#include "core/rt/clock.hpp"
#include "core/stream/content_type.hpp"
#include "core/stream/offset.hpp"

namespace morula {

namespace {

HttpResponse bad_header(const std::string& message) {
  return error_response(400, "invalid_header", message);
}

struct RefusalAnswer {
  int status;
  std::string_view code;
};

RefusalAnswer answer_of(Refusal why) {
  switch (why) {
    case Refusal::kAbsent:
      return {404, "stream_not_found"};
    case Refusal::kExists:
      return {409, "stream_exists"};
    case Refusal::kContentTypeMismatch:
      return {409, "content_type_mismatch"};
    case Refusal::kInvalidContentType:
      return {400, "invalid_content_type"};
    case Refusal::kInvalidJson:
      return {400, "invalid_json"};
    case Refusal::kEmptyAppend:
      return {400, "empty_append"};
    case Refusal::kTooLarge:
      return {413, "too_large"};
    case Refusal::kStaleEpoch:
      return {403, "stale_epoch"};
    case Refusal::kEpochNotAtZero:
      return {400, "epoch_not_at_zero"};
    case Refusal::kSequenceGap:
      return {409, "sequence_gap"};
    case Refusal::kSequenceRegression:
      return {409, "sequence_regression"};
    case Refusal::kOffsetMismatch:
      return {409, "offset_mismatch"};
    case Refusal::kInvalidOffset:
      return {400, "invalid_offset"};
    case Refusal::kCollision:
      return {500, "stream_id_collision"};
  }
  return {500, "damaged"};
}

HttpResponse refusal_response(const Refused& refused, const std::optional<ProducerClaim>& claim) {
  const RefusalAnswer answer = answer_of(refused.why);
  HttpResponse response = error_response(answer.status, answer.code, refused.message);
  if (refused.tail) response.headers.add("Stream-Next-Offset", OffsetText(*refused.tail));
  if (refused.why == Refusal::kStaleEpoch) {
    response.headers.add("Producer-Epoch", std::to_string(refused.producer_epoch));
  }
  if (refused.why == Refusal::kSequenceGap && claim) {
    response.headers.add("Producer-Expected-Seq", std::to_string(refused.expected_seq));
    response.headers.add("Producer-Received-Seq", std::to_string(claim->seq));
  }
  return response;
}

/// Reads have no unknown outcome.
template <class Outcome>
constexpr bool kIsChange = true;
template <>
constexpr bool kIsChange<ReadOutcome> = false;
template <>
constexpr bool kIsChange<HeadOutcome> = false;

/// What all outcomes that are no success have in common. `busy_code` names the bound of kBusy.
template <class Outcome>
StreamResponse failure_response(const Outcome& outcome, std::string_view busy_code,
                                const std::optional<ProducerClaim>& claim = std::nullopt) {
  if (const auto* refused = std::get_if<Refused>(&outcome)) {
    return {refusal_response(*refused, claim)};
  }
  if constexpr (kIsChange<Outcome>) {
    if (const auto* unknown = std::get_if<OutcomeUnknown>(&outcome)) {
      return {outcome_unknown_response(unknown->error.message)};
    }
  }
  const Error& error = std::get<Unserved>(outcome).error;
  return {unserved_response(error, busy_code), is_moving(error)};
}

void add_generation(HttpResponse& response, Generation generation) {
  response.headers.add("Stream-Generation", std::to_string(generation.value));
}

/// Stream-TTL in whole seconds that remain, or Stream-Expires-At as it was given.
void add_expiry(HttpResponse& response, const StreamInfo& info) {
  if (info.expiry.kind == Expiry::Kind::kTtl) {
    const uint64_t remaining_ms = info.remaining_ms.value_or(0);
    response.headers.add("Stream-TTL",
                         std::to_string(remaining_ms / 1000 + (remaining_ms % 1000 != 0 ? 1 : 0)));
  } else if (info.expiry.kind == Expiry::Kind::kAt) {
    response.headers.add("Stream-Expires-At", info.expiry.text);
  }
}

Result<Expiry> read_expiry(HeaderReader& headers) {
  const auto ttl = headers.parsed("Stream-TTL", &Expiry::parse_ttl);
  const auto at = headers.parsed("Stream-Expires-At", &Expiry::parse_at);
  if (ttl && at) headers.reject("give Stream-TTL or Stream-Expires-At, not both");
  if (headers.wrong()) return fail(ErrorCode::kInvalid, *headers.wrong());
  return ttl ? *ttl : at ? *at : Expiry::none();
}

std::optional<ProducerClaim> read_producer(HeaderReader& headers, const StreamLimits& limits) {
  const auto id = headers.short_text("Producer-Id", limits.producer_id_bytes_max);
  const auto epoch = headers.number("Producer-Epoch");
  const auto seq = headers.number("Producer-Seq");
  if (id && epoch && seq) return ProducerClaim{*id, *epoch, *seq};
  if (id || epoch || seq) {
    headers.reject("Producer-Id, Producer-Epoch and Producer-Seq come together or not at all");
  }
  return std::nullopt;
}

bool is_true(std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(text, std::string_view("true"), {}, lower);
}

/// What a client asks for in a header and this version does not do must not be left out without a
/// word: the stream would be another one than the client believes.
std::optional<HttpResponse> refuse_unsupported(const HttpRequest& request) {
  const auto closed = request.headers.find("Stream-Closed");
  if (closed && is_true(*closed)) {
    return error_response(501, "close_unsupported",
                          "this version does not close streams: leave Stream-Closed out");
  }
  for (const std::string_view name : {"Stream-Forked-From", "Stream-Fork-Offset"}) {
    if (!request.headers.find(name)) continue;
    return error_response(501, "fork_unsupported",
                          "this version does not fork streams: leave Stream-Forked-From and "
                          "Stream-Fork-Offset out");
  }
  return std::nullopt;
}

StreamResponse create(Streams& streams, const StreamTarget& target, const HttpRequest& request) {
  if (auto refused = refuse_unsupported(request)) return {std::move(*refused)};
  HeaderReader headers(request.headers);
  CreateRequest wish;
  wish.stream = target.hash;
  wish.tenant = target.tenant;
  wish.path = target.path;
  wish.content_type = std::string(headers.text("Content-Type").value_or(kDefaultContentType));
  wish.body = request.body;
  auto expiry = read_expiry(headers);
  if (!expiry) return {bad_header(expiry.error().message)};
  wish.expiry = std::move(*expiry);

  const CreateOutcome outcome = streams.create(wish);
  const auto* created = std::get_if<Created>(&outcome);
  if (created == nullptr) return failure_response(outcome, "append_memory_busy");
  HttpResponse response;
  response.status = created->existed ? 200 : 201;
  response.headers.add("Content-Type", created->info.content_type);
  response.headers.add("Stream-Next-Offset", OffsetText(created->info.tail));
  if (!created->existed) response.headers.add("Location", stream_url(request, target.path));
  add_generation(response, created->info.generation);
  add_expiry(response, created->info);
  return {std::move(response)};
}

StreamResponse append(const StreamLimits& limits, Streams& streams, const StreamTarget& target,
                      const HttpRequest& request) {
  if (auto refused = refuse_unsupported(request)) return {std::move(*refused)};
  HeaderReader headers(request.headers);
  AppendRequest wish;
  wish.stream = target.hash;
  wish.body = request.body;
  wish.producer = read_producer(headers, limits);
  wish.sequence = headers.short_text("Stream-Seq", limits.sequence_bytes_max);
  wish.expected_offset = headers.parsed("Stream-Expected-Offset", &parse_offset);
  const auto content_type = headers.text("Content-Type");
  if (headers.wrong()) return {bad_header(*headers.wrong())};
  if (!content_type) {
    return {error_response(400, "invalid_content_type",
                           "an append says the stream's content type in Content-Type")};
  }
  wish.content_type = *content_type;

  const AppendOutcome outcome = streams.append(wish);
  const auto* appended = std::get_if<Appended>(&outcome);
  if (appended == nullptr) return failure_response(outcome, "append_memory_busy", wish.producer);
  HttpResponse response;
  response.status = wish.producer && !appended->duplicate ? 200 : 204;
  response.headers.add("Stream-Next-Offset", OffsetText(appended->tail));
  add_generation(response, appended->generation);
  if (wish.producer) {
    response.headers.add("Producer-Epoch", std::to_string(appended->producer_epoch));
    response.headers.add("Producer-Seq", std::to_string(appended->producer_seq));
  }
  return {std::move(response)};
}

/// Names the generation and the range: what is between two offsets of one generation never changes.
/// And whether that is the tail, which does change: a 304 renews what a cache has kept, headers
/// too.
std::string etag_of(const ReadAnswer& given) {
  std::string etag;
  etag.reserve(128);
  etag.append(1, '"').append(StreamIdText(given.info.id)).append(1, '-');
  etag.append(std::to_string(given.info.generation.value)).append(1, ':');
  etag.append(OffsetText(given.start)).append(1, ':').append(OffsetText(given.end));
  return etag.append(given.up_to_date ? ":t\"" : "\"");
}

/// Whether an etag of the If-None-Match header is `etag`; weakness does not matter.
bool none_match_names(const Headers& headers, std::string_view etag) {
  std::string_view rest = headers.find("If-None-Match").value_or("");
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    while (one.starts_with(' ') || one.starts_with('\t')) one.remove_prefix(1);
    while (one.ends_with(' ') || one.ends_with('\t')) one.remove_suffix(1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == etag || one == "*") return true;
  }
  return false;
}

std::string cache_control(const ReadAnswer& given, ReadRequest::From from) {
  constexpr uint64_t kFreshSeconds = 60;
  constexpr uint64_t kStaleSeconds = 300;
  if (from == ReadRequest::From::kTail) return "no-store";
  if (given.up_to_date) return "private, no-cache";
  const uint64_t left = given.info.remaining_ms ? *given.info.remaining_ms / 1000 : UINT64_MAX;
  std::string value = "private, max-age=" + std::to_string(std::min(kFreshSeconds, left));
  if (left >= kFreshSeconds + kStaleSeconds) {
    value += ", stale-while-revalidate=" + std::to_string(kStaleSeconds);
  }
  return value;
}

/// Where a GET begins. kInvalid.
Result<ReadRequest> read_request(const StreamTarget& target,
                                 const std::optional<std::string>& offset) {
  ReadRequest wish;
  wish.stream = target.hash;
  if (!offset || *offset == "-1") return wish;
  if (*offset == "now") {
    wish.from = ReadRequest::From::kTail;
    return wish;
  }
  const auto parsed = parse_offset(*offset);
  MORULA_TRY(parsed);
  wish.from = ReadRequest::From::kOffset;
  wish.offset = *parsed;
  return wish;
}

std::optional<HttpResponse> refuse_live(const Result<std::optional<std::string>>& live,
                                        const std::optional<std::string>& offset) {
  if (!live) return error_response(400, "invalid_query", live.error().message);
  if (!*live) return std::nullopt;
  if (**live != "long-poll" && **live != "sse") {
    return error_response(400, "invalid_query", "live is long-poll or sse");
  }
  if (!offset) return error_response(400, "invalid_query", "live needs an offset");
  return error_response(501, "live_unsupported",
                        "this version serves catch-up reads only: leave live out, and ask again "
                        "from Stream-Next-Offset");
}

StreamResponse read(const Env& env, Streams& streams, const StreamTarget& target,
                    const HttpRequest& request) {
  const auto offset = target.target.parameter("offset");
  if (!offset) return {error_response(400, "invalid_query", offset.error().message)};
  if (auto refused = refuse_live(target.target.parameter("live"), *offset)) {
    return {std::move(*refused)};
  }
  const auto cursor = target.target.parameter("cursor");
  if (!cursor) return {error_response(400, "invalid_query", cursor.error().message)};
  const auto wish = read_request(target, *offset);
  if (!wish) return {error_response(400, "invalid_offset", wish.error().message)};

  ReadOutcome outcome = streams.read(*wish);
  auto* given = std::get_if<ReadAnswer>(&outcome);
  if (given == nullptr) return failure_response(outcome, "read_memory_busy");
  HttpResponse response;
  response.headers.add("Content-Type", given->info.content_type);
  response.headers.add("Stream-Next-Offset", OffsetText(given->end));
  add_generation(response, given->info.generation);
  response.headers.add("Stream-Cursor", next_cursor(env.clock.wall(), *cursor, env.random));
  response.headers.add("Cache-Control", cache_control(*given, wish->from));
  if (given->up_to_date) response.headers.add("Stream-Up-To-Date", "true");
  if (wish->from != ReadRequest::From::kTail) {
    std::string etag = etag_of(*given);
    if (none_match_names(request.headers, etag)) {
      response.status = 304;
      response.headers.erase("Content-Type");
    }
    response.headers.add("ETag", etag);
  }
  if (response.status == 200) {
    response.body = std::move(given->body);
    response.body_memory = std::make_shared<MemoryReservation>(std::move(given->body_memory));
  }
  return {std::move(response)};
}

StreamResponse head(Streams& streams, const StreamTarget& target) {
  const HeadOutcome outcome = streams.head(target.hash);
  const auto* info = std::get_if<StreamInfo>(&outcome);
  if (info == nullptr) return failure_response(outcome, "read_memory_busy");
  HttpResponse response;
  response.headers.add("Content-Type", info->content_type);
  response.headers.add("Stream-Next-Offset", OffsetText(info->tail));
  response.headers.add("Cache-Control", "no-store");
  add_generation(response, info->generation);
  add_expiry(response, *info);
  return {std::move(response)};
}

StreamResponse remove(Streams& streams, const StreamTarget& target) {
  const RemoveOutcome outcome = streams.remove({target.hash, target.tenant, target.path});
  const auto* removed = std::get_if<Removed>(&outcome);
  if (removed == nullptr) return failure_response(outcome, "append_memory_busy");
  HttpResponse response;
  response.status = 204;
  add_generation(response, removed->generation);
  return {std::move(response)};
}

/// A name or an address, perhaps with a port: what a Host header may put into our answers.
bool is_host(std::string_view text) {
  constexpr std::string_view kMarks = "-._:[]%";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

}  // namespace

StreamResponse serve_stream(const Env& env, const StreamLimits& limits, Streams& streams,
                            const StreamTarget& target, const HttpRequest& request) {
  if (request.method == "PUT") return create(streams, target, request);
  if (request.method == "POST") return append(limits, streams, target, request);
  if (request.method == "GET") return read(env, streams, target, request);
  if (request.method == "HEAD") return head(streams, target);
  MORULA_CHECK(request.method == "DELETE");
  return remove(streams, target);
}

std::string stream_url(const HttpRequest& request, std::string_view path) {
  std::string url;
  if (const auto host = request.headers.find("Host"); host && is_host(*host)) {
    url = request.headers.find("X-Forwarded-Proto") == "https" ? "https://" : "http://";
    url += *host;
  }
  url += kStreamPrefix;
  return url + percent_encode(path);
}

}  // namespace morula
