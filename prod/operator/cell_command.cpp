#include "prod/operator/cell_command.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <optional>

#include "core/base/ids.hpp"
#include "core/base/json.hpp"
#include "core/base/prefix.hpp"
#include "prod/command_output.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/loop.hpp"
#include "prod/operator/cell_report_text.hpp"
#include "prod/serve_address.hpp"

namespace morula {
namespace {

using What = CellOptions::What;

// Longer than an instance tries to reach the owner, so that it is the one to say what was wrong.
constexpr Duration kAnswerMax = std::chrono::seconds(60);

std::string_view name_of(What what) {
  switch (what) {
    case What::kShow:
      return "show";
    case What::kSplit:
      return "split";
    case What::kMerge:
      return "merge";
    case What::kMove:
      return "move";
    case What::kDrain:
      return "drain";
    case What::kBalance:
      return "balance";
  }
  return "?";
}

bool relocates(What what) {
  return what == What::kDrain || what == What::kBalance;
}

Result<> check(const CellOptions& options) {
  MORULA_TRY(check_instance_url("--url", options.url));
  if (names_shard(options.what)) MORULA_TRY(Prefix::parse(options.prefix));
  if (!names_instance(options.what) || is_valid_instance_name(options.instance)) return {};
  return fail(ErrorCode::kInvalid,
              "\"" + options.instance + "\" is no instance's name: 1 to 63 of a-z, 0-9 and -");
}

HttpRequest request_of(const CellOptions& options) {
  HttpRequest request;
  request.method = "GET";
  request.target = "/v1/cell";
  if (options.what == What::kShow) return request;
  request.method = "POST";
  request.target += "/" + std::string(name_of(options.what));
  request.headers.set("Content-Type", "application/json");
  Json::Object body;
  if (names_shard(options.what)) body.emplace("prefix", options.prefix);
  if (options.what == What::kMove) body.emplace("to", options.instance);
  if (options.what == What::kDrain) body.emplace("instance", options.instance);
  request.body = Json(std::move(body)).compact();
  return request;
}

/// {"code", "message"} of an answer that is a refusal.
struct Refusal {
  std::string code = "?";
  std::string message;
};
Refusal refusal_of(const HttpResponse& response, const Json* body) {
  Refusal refusal;
  const Json* error = body != nullptr ? body->find("error") : nullptr;
  refusal.message = fmt::format("it answers {}, which is not morula's", response.status);
  if (error == nullptr) return refusal;
  refusal.code = error->string_at("code").value_or("?");
  refusal.message = error->string_at("message").value_or("");
  return refusal;
}

/// "01 -> i2" for each of `shards`, one a line.
void print_relocated(const Json& body) {
  const auto moved = body.array_at("moved").value_or(Json::Array());
  const auto left = body.array_at("left").value_or(Json::Array());
  for (const Json& shard : moved) {
    print(fmt::format("shard {} moved to {}\n", shard.string_at("prefix").value_or("?"),
                      shard.string_at("to").value_or("?")));
  }
  for (const Json& shard : left) {
    print(fmt::format("shard {} is still there: {}\n", shard.string_at("prefix").value_or("?"),
                      shard.string_at("why").value_or("?")));
  }
}

int print_done(const CellOptions& options, const HttpResponse& response, const Json& body) {
  if (options.what == What::kShow) {
    const auto report = parse_cell_report(response.body);
    if (!report) {
      complain(options.url + " gives no report of a cell: " + report.error().message);
      return kCellRefused;
    }
    print(fmt::format("cell at {} ({}), {}", options.url, report->asked, text_of(*report)));
    return kCellDone;
  }
  if (relocates(options.what)) print_relocated(body);
  std::string what = std::string(name_of(options.what));
  if (!options.prefix.empty()) what += " " + options.prefix;
  if (!options.instance.empty()) what += " " + options.instance;
  const bool changed = body.bool_at("changed").value_or(false);
  print(fmt::format("{}: {}, topology version {}\n", what, changed ? "done" : "it was so already",
                    body.u64_at("version").value_or(0)));
  return kCellDone;
}

int print_answer(const CellOptions& options, const HttpResponse& response) {
  const auto body = Json::parse(response.body);
  if (options.json) print(response.body);
  if (response.status == 200 && body) {
    return options.json ? kCellDone : print_done(options, response, *body);
  }
  if (!options.json && body && body->find("left") != nullptr) print_relocated(*body);
  const Refusal refusal = refusal_of(response, body ? &*body : nullptr);
  complain(fmt::format("{} ({} {})", refusal.message, response.status, refusal.code));
  return kCellRefused;
}

/// A drain or balance that got somewhere is asked for again: there may be more than one request has
/// time for.
bool goes_on(const CellOptions& options, const HttpResponse& response) {
  if (!relocates(options.what) || response.status != 503) return false;
  const auto body = Json::parse(response.body);
  return body && !body->array_at("moved").value_or(Json::Array()).empty();
}

}  // namespace

std::vector<Option> option_table(CellOptions& options) {
  constexpr auto kGroup = "Whom to ask, and how to print";
  return {
      {"url", kGroup, &options.url, "Any instance of the cell, http://host:port"},
      {"json", kGroup, &options.json, "Print the instance's JSON instead of text"},
  };
}

int cell(const CellOptions& given) {
  CellOptions options = given;
  while (options.url.ends_with('/')) options.url.pop_back();
  if (const auto checked = check(options); !checked) {
    complain(checked.error().message);
    return kCellUsage;
  }
  ::signal(SIGPIPE, SIG_IGN);
  Loop loop;
  int ended = kCellRefused;
  loop.run_fiber("cell", [&] {
    CurlClient client(loop, CurlClientConfig{});
    const HttpRequest request = request_of(options);
    while (true) {
      const auto response = client.call(options.url, request, loop.now() + kAnswerMax);
      if (!response) return complain(response.error().message);
      ended = print_answer(options, *response);
      if (!goes_on(options, *response)) return;
    }
  });
  return finish_output() ? ended : kCellUsage;
}

}  // namespace morula
