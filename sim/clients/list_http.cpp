#include "sim/clients/list_http.hpp"

#include "core/api/target.hpp"
#include "core/base/json.hpp"
#include "core/stream/expiry.hpp"

namespace morula::sim {

namespace {

Result<invariants::ListAnswer> parse_answer(std::string_view body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  const auto streams = json->array_at("streams");
  MORULA_TRY(streams);
  invariants::ListAnswer answer;
  for (const Json& stream : *streams) {
    auto path = stream.string_at("path");
    MORULA_TRY(path);
    const auto generation = stream.u64_at("generation");
    MORULA_TRY(generation);
    const auto created = stream.string_at("created");
    MORULA_TRY(created);
    MORULA_TRY(Expiry::parse_at(*created));
    MORULA_TRY(stream.string_at("content_type"));
    answer.streams.push_back({*std::move(path), *generation});
  }
  if (json->find("next") == nullptr) return answer;
  auto next = json->string_at("next");
  MORULA_TRY(next);
  answer.next = *std::move(next);
  return answer;
}

}  // namespace

HttpRequest list_request(const invariants::ListQuestion& question) {
  HttpRequest http;
  http.method = "GET";
  http.target = std::string(kListPath) + "?limit=" + std::to_string(question.limit);
  if (!question.prefix.empty()) http.target += "&prefix=" + percent_encode(question.prefix);
  if (!question.after.empty()) http.target += "&after=" + percent_encode(question.after);
  if (!question.tenant.empty()) http.headers.add("Morula-Tenant", question.tenant);
  return http;
}

ListReply understand_list(const Result<HttpResponse>& result) {
  ListReply reply;
  if (!result) return reply;
  if (result->status == 200) {
    auto answer = parse_answer(result->body);
    if (answer) {
      reply.answer = *std::move(answer);
    } else {
      reply.unexpected = "a listing that can't be read: " + answer.error().message;
    }
    return reply;
  }
  const bool refused = result->status == 503 || result->status == 429;
  const auto seconds = result->headers.find("Retry-After");
  if (refused && seconds) reply.retry_after = std::chrono::seconds(1);
  if (!refused || !seconds) {
    reply.unexpected =
        "a listing does not deserve " + std::to_string(result->status) + ": " + result->body;
  }
  return reply;
}

}  // namespace morula::sim
