#include "core/api/list_routes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/api/forward.hpp"
#include "core/api/header_reader.hpp"
#include "core/api/responses.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"
#include "core/stream/streams.hpp"

namespace morula {

namespace {

constexpr uint64_t kLimitDefault = 100;
constexpr uint64_t kLimitMax = 1000;
constexpr size_t kLimitDigitsMax = 4;
constexpr size_t kPartsAtOnce = 8;

Result<uint64_t> parse_limit(std::string_view text) {
  uint64_t limit = 0;
  bool ok = text.size() <= kLimitDigitsMax;
  for (size_t i = 0; ok && i < text.size(); ++i) {
    ok = text[i] >= '0' && text[i] <= '9';
    limit = limit * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  if (ok && limit >= 1 && limit <= kLimitMax) return limit;
  return fail(ErrorCode::kInvalid,
              "limit is a whole number from 1 to " + std::to_string(kLimitMax) + ", in digits");
}

Json::Object json_of(const ListedStream& stream) {
  return {{"path", stream.path},
          {"generation", stream.generation.value},
          {"content_type", stream.content_type},
          {"created", rfc3339(stream.created)}};
}

std::string body_of(ListPage page) {
  Json::Array streams;
  for (ListPage::Entry& entry : page.streams) streams.emplace_back(std::move(entry.json));
  Json::Object body{{"streams", std::move(streams)}};
  if (page.next) body["next"] = *page.next;
  return Json(std::move(body)).compact() + "\n";
}

Result<ListPage> parse_page(std::string_view body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  const auto streams = json->array_at("streams");
  MORULA_TRY(streams);
  ListPage page;
  for (const Json& stream : *streams) {
    auto path = stream.string_at("path");
    MORULA_TRY(path);
    page.streams.push_back({*std::move(path), *stream.as_object()});
  }
  if (json->find("next") != nullptr) {
    auto next = json->string_at("next");
    MORULA_TRY(next);
    page.next = *std::move(next);
  }
  return page;
}

}  // namespace

ListPage merge_pages(std::vector<ListPage> parts, size_t limit) {
  ListPage page;
  for (const ListPage& part : parts) {
    if (part.next && (!page.next || *part.next < *page.next)) page.next = part.next;
  }
  for (ListPage& part : parts) {
    for (ListPage::Entry& entry : part.streams) {
      if (!page.next || entry.path <= *page.next) page.streams.push_back(std::move(entry));
    }
  }
  std::ranges::sort(page.streams, {}, &ListPage::Entry::path);
  if (page.streams.size() > limit) {
    page.streams.resize(limit);
    page.next = page.streams.back().path;
  }
  return page;
}

/// Shards that one instance is asked for.
struct Lister::Part {
  std::string address;  // empty: this one
  std::vector<Prefix> shards;
  std::vector<std::shared_ptr<Streams>> streams;  // of this one
  std::vector<ListPage> pages = {};
  std::optional<HttpResponse> failure = {};
};

HttpResponse Lister::run() {
  if (request_.method != "GET" && request_.method != "HEAD") return method_not_allowed("GET, HEAD");
  if (auto query = read_query(); !query) {
    return error_response(400, "invalid_query", query.error().message);
  }
  if (auto shards = read_shards(); !shards) {
    return error_response(400, "invalid_header", shards.error().message);
  }
  deadline_ = env_.clock.now() + config_.forward_timeout;
  const uint64_t attempts_max = hops_ == 0 ? config_.forward_attempts_max : 1;
  Duration pause = config_.forward_pause;
  for (uint64_t made = 1;; ++made) {
    auto response = attempt();
    env_.trace.sometimes("a listing was answered after another attempt", response && made > 1);
    if (response) return std::move(*response);
    if (made >= attempts_max || env_.clock.now() >= deadline_) break;
    env_.trace.log(Severity::kDebug, "request_tried_again", {{"unseen", unseen_}});
    placement_.refresh(deadline_);
    env_.clock.sleep_until(std::min(env_.clock.now() + pause, deadline_));
    pause *= 2;
  }
  return busy_response(kMovingCode, "not all of the streams can be seen: " + unseen_ +
                                        "; try again, here or anywhere");
}

Result<> Lister::read_query() {
  for (const auto& [name, place] : {std::pair("prefix", &prefix_), std::pair("after", &after_)}) {
    auto value = target_.parameter(name);
    MORULA_TRY(value);
    if (!*value) continue;
    const uint64_t bytes_max = config_.stream.path_bytes_max;
    if ((*value)->size() > bytes_max || !is_printable_utf8(**value)) {
      return fail(ErrorCode::kInvalid, std::string(name) + " has up to " +
                                           std::to_string(bytes_max) +
                                           " bytes of UTF-8 without control characters");
    }
    *place = **std::move(value);
  }
  const auto limit = target_.parameter("limit");
  MORULA_TRY(limit);
  limit_ = kLimitDefault;
  if (!*limit) return {};
  const auto parsed = parse_limit(**limit);
  MORULA_TRY(parsed);
  limit_ = *parsed;
  return {};
}

Result<> Lister::read_shards() {
  HeaderReader headers(request_.headers);
  const auto shards = headers.text(kShardsHeader);
  if (headers.wrong()) return fail(ErrorCode::kInvalid, *headers.wrong());
  for (std::string_view rest = shards.value_or(""); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto prefix = Prefix::parse(one);
    if (!prefix) return fail(ErrorCode::kInvalid, "Streams-Shards names shards, as 00,01");
    asked_.push_back(*prefix);
  }
  return {};
}

std::optional<HttpResponse> Lister::attempt() {
  auto asked = parts();
  if (!asked) return std::nullopt;
  const auto done = for_each_concurrently(asked->size(), kPartsAtOnce, [&](size_t i) -> Result<> {
    Part& part = (*asked)[i];
    if (ask(part)) return {};
    env_.trace.sometimes("a listing could not see a shard", true);
    if (mutated(Mutant::listing_skips_shard)) return {};
    return fail(ErrorCode::kMoved, "");
  });
  if (!done) return std::nullopt;
  std::vector<ListPage> pages;
  for (Part& part : *asked) {
    if (part.failure) return std::move(part.failure);
    std::ranges::move(part.pages, std::back_inserter(pages));
  }
  env_.trace.sometimes("a listing merged what several instances said", asked->size() > 1);
  HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-store");
  response.body = body_of(merge_pages(std::move(pages), limit_));
  return response;
}

std::optional<std::vector<Lister::Part>> Lister::parts() {
  std::map<std::string, Part> by_address;
  std::vector<ShardPlace> shards = placement_.shards();
  if (shards.empty()) {
    unseen_ = "no shard is known yet";
    return std::nullopt;
  }
  for (const Prefix prefix : asked_) {
    if (std::ranges::find(shards, prefix, &ShardPlace::prefix) == shards.end()) {
      unseen_ = "shard " + prefix.text() + " is not served here";
      return std::nullopt;
    }
  }
  for (ShardPlace& shard : shards) {
    if (!asked_.empty() && std::ranges::find(asked_, shard.prefix) == asked_.end()) continue;
    auto* here = std::get_if<ServedHere>(&shard.place);
    const auto* elsewhere = std::get_if<ServedElsewhere>(&shard.place);
    if (here == nullptr && (elsewhere == nullptr || hops_ > 0)) {
      if (mutated(Mutant::listing_skips_shard)) continue;
      unseen_ = "shard " + shard.prefix.text() +
                (hops_ > 0 ? " is not served here" : " has no owner at the moment");
      return std::nullopt;
    }
    Part& part = by_address[here != nullptr ? "" : elsewhere->address];
    if (elsewhere != nullptr) part.address = elsewhere->address;
    if (here != nullptr) part.streams.push_back(std::move(here->streams));
    part.shards.push_back(shard.prefix);
  }
  std::vector<Part> parts;
  parts.reserve(by_address.size());
  for (auto& [address, part] : by_address) parts.push_back(std::move(part));
  return parts;
}

bool Lister::ask(Part& part) {
  return part.address.empty() ? ask_here(part) : ask_elsewhere(part);
}

bool Lister::ask_here(Part& part) {
  for (size_t i = 0; i < part.streams.size(); ++i) {
    ListOutcome outcome = part.streams[i]->list({part.shards[i], tenant_, prefix_, after_, limit_});
    if (const auto* unserved = std::get_if<Unserved>(&outcome)) {
      unseen_ = "shard " + part.shards[i].text() + ": " + unserved->error.message;
      if (is_moving(unserved->error)) return false;
      part.failure = unserved_response(unserved->error, "read_memory_busy");
      return true;
    }
    auto& listed = std::get<Listed>(outcome);
    ListPage page;
    page.next = std::move(listed.next);
    for (ListedStream& stream : listed.streams) {
      Json::Object json = json_of(stream);
      page.streams.push_back({std::move(stream.path), std::move(json)});
    }
    // However many shards there are, two pages are held at once.
    part.pages.push_back(std::move(page));
    part.pages = {merge_pages(std::move(part.pages), limit_)};
  }
  return true;
}

bool Lister::ask_elsewhere(Part& part) {
  HttpRequest request;
  request.method = "GET";
  request.target = std::string(target_.raw());
  request.headers.add("Morula-Tenant", std::string(tenant_));
  request.headers.add(kHopsHeader, "1");
  std::string shards;
  for (const Prefix prefix : part.shards) shards += (shards.empty() ? "" : ",") + prefix.text();
  request.headers.add(kShardsHeader, shards);
  const Time until = std::min(deadline_, env_.clock.now() + config_.forward_attempt_timeout);
  auto answer = env_.network.call(part.address, request, until);
  if (!answer) {
    unseen_ = part.address + ": " + answer.error().message;
    return false;
  }
  if (answer->status != 200) {
    unseen_ = part.address + " answers " + std::to_string(answer->status);
    if (says_moving(*answer)) return false;
    answer->headers.erase("Content-Length");
    answer->headers.set(kForwardedToHeader, part.address);
    part.failure = std::move(*answer);
    return true;
  }
  auto page = parse_page(answer->body);
  if (!page) {
    unseen_ = part.address + " gave no listing: " + page.error().message;
    return false;
  }
  part.pages.push_back(*std::move(page));
  return true;
}

}  // namespace morula
