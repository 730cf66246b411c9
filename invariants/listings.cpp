#include "invariants/listings.hpp"

#include <algorithm>

#include "core/api/target.hpp"

namespace morula::invariants {

namespace {

/// The decoded path behind the tenant; nullopt: it is another tenant's.
std::optional<std::string> path_of(const ListQuestion& question, std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view tenant = colon == std::string_view::npos ? "" : name.substr(0, colon);
  if (tenant != question.tenant) return std::nullopt;
  auto path = percent_decode(colon == std::string_view::npos ? name : name.substr(colon + 1));
  if (!path) return std::nullopt;
  return *std::move(path);
}

bool covers(const ListQuestion& question, std::string_view path) {
  return path.starts_with(question.prefix) && (question.after.empty() || path > question.after);
}

}  // namespace

std::string Listings::name_of(const ListQuestion& question, std::string_view path) {
  return (question.tenant.empty() ? "" : question.tenant + ":") + percent_encode(path);
}

bool Listings::asks_for(const ListQuestion& question, std::string_view name) {
  const auto path = path_of(question, name);
  return path && covers(question, *path);
}

Response Listings::says(const ListQuestion& question, const ListAnswer& answer,
                        std::string_view name) {
  Response response;
  response.outcome = Outcome::kRefused;
  const auto path = path_of(question, name);
  if (!path || (answer.next && *path > *answer.next)) return response;
  response.status = 200;
  response.outcome = Outcome::kAbsent;
  const auto listed = std::ranges::find(answer.streams, *path, &ListAnswer::Stream::path);
  if (listed == answer.streams.end()) return response;
  response.outcome = Outcome::kOk;
  response.generation = listed->generation;
  return response;
}

void Listings::check(const ListQuestion& question, const ListAnswer& answer, Duration now) {
  if (answer.streams.size() > question.limit) {
    report(question, now, "it has " + std::to_string(answer.streams.size()) + " streams");
  }
  const std::string* previous = nullptr;
  for (const ListAnswer::Stream& stream : answer.streams) {
    if (previous != nullptr && stream.path <= *previous) {
      report(question, now, stream.path + " follows " + *previous);
    }
    if (!covers(question, stream.path)) report(question, now, stream.path + " is in it");
    if (answer.next && stream.path > *answer.next) {
      report(question, now, stream.path + " is in it, and `next` is " + *answer.next);
    }
    previous = &stream.path;
  }
  if (answer.next && *answer.next <= question.after) {
    report(question, now, "`next` is " + *answer.next + ": paging never ends");
  }
}

void Listings::unheard_of(const ListQuestion& question, std::string_view name, Duration now) {
  report(question, now, std::string(name) + " is in it, which nobody ever created");
}

void Listings::report(const ListQuestion& question, Duration now, std::string what) {
  violations_.report(Invariant::kListing, now,
                     "a listing for client " + std::to_string(question.client) + " of tenant \"" +
                         question.tenant + "\", prefix \"" + question.prefix + "\", after \"" +
                         question.after + "\", limit " + std::to_string(question.limit) + ": " +
                         std::move(what));
}

}  // namespace morula::invariants
