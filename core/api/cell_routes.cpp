#include "core/api/cell_routes.hpp"

#include <map>

#include "core/api/cell_relocation.hpp"
#include "core/api/cell_report.hpp"
#include "core/api/relay.hpp"
#include "core/api/responses.hpp"
#include "core/base/document.hpp"
#include "core/rt/clock.hpp"
#include "core/topology/bucket_plan_document.hpp"

namespace morula {

namespace {

constexpr uint64_t kBodyBytesMax = 4096;

Result<std::string> parse_instance(std::string_view name) {
  if (is_valid_instance_name(name)) return std::string(name);
  return fail(ErrorCode::kInvalid, "must be an instance's name: 1 to 63 of a-z, 0-9 and -");
}

Result<CellStep> parse_step(CellStep::Kind kind, const std::string& body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  MemberReader in(*json);
  CellStep step;
  step.kind = kind;
  step.prefix = in.parsed("prefix", Prefix::parse);
  if (kind == CellStep::Kind::kMove) step.to = in.parsed("to", parse_instance);
  MORULA_TRY(in.finish());
  return step;
}

Result<std::string> parse_drain(const std::string& body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  MemberReader in(*json);
  std::string instance = in.parsed("instance", parse_instance);
  MORULA_TRY(in.finish());
  return instance;
}

Result<> parse_balance(const std::string& body) {
  if (body.empty()) return {};
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  return MemberReader(*json).finish();
}

HttpResponse invalid_body(const Error& error, std::string_view example) {
  return error_response(400, "invalid_body",
                        error.message + "; the body is like " + std::string(example));
}

HttpResponse shown(std::string body) {
  HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

std::string_view example_of(CellStep::Kind kind) {
  return kind == CellStep::Kind::kMove ? R"({"prefix":"01","to":"i2"})" : R"({"prefix":"01"})";
}

}  // namespace

bool is_cell_path(std::string_view raw_path) {
  if (!raw_path.starts_with(kCellPath)) return false;
  raw_path.remove_prefix(kCellPath.size());
  return raw_path.empty() || raw_path.starts_with('/');
}

HttpResponse CellRoutes::run() {
  static const std::map<std::string_view, CellStep::Kind> kSteps = {
      {"/split", CellStep::Kind::kSplit},
      {"/merge", CellStep::Kind::kMerge},
      {"/move", CellStep::Kind::kMove}};
  const auto step = kSteps.find(what_);
  const bool shows = what_.empty() || what_ == "/plan";
  const bool relocates = what_ == "/drain" || what_ == "/balance";
  if (!shows && step == kSteps.end() && !relocates) {
    return error_response(404, "not_found",
                          "there is nothing here; of the cell there are /v1/cell and, below it, "
                          "plan, split, merge, move, drain and balance");
  }
  if (shows) {
    const bool reads = request_.method == "GET" || request_.method == "HEAD";
    if (!reads) return method_not_allowed("GET, HEAD");
    return what_.empty() ? show() : show_plan();
  }
  if (request_.method != "POST") return method_not_allowed("POST");
  if (request_.body.size() > kBodyBytesMax) {
    return error_response(413, "too_large",
                          "the body has up to " + std::to_string(kBodyBytesMax) + " bytes");
  }
  if (step != kSteps.end()) return change(step->second);
  return what_ == "/drain" ? drain() : balance();
}

HttpResponse CellRoutes::show() {
  if (hops_ > 0) {
    const auto moves = control_.moves();
    return moves ? shown(report_of(*moves)) : unserved_response(moves.error(), "cell_busy");
  }
  const auto view = control_.view();
  if (!view) return unserved_response(view.error(), "cell_busy");
  return shown(report_of(*view, gather_moves(env_, *view)));
}

HttpResponse CellRoutes::show_plan() {
  const auto path = target_.parameter("path");
  if (!path) return error_response(400, "invalid_query", path.error().message);
  const uint64_t bytes_max = config_.stream.path_bytes_max;
  if (*path && ((*path)->empty() || (*path)->size() > bytes_max || !is_printable_utf8(**path))) {
    return error_response(400, "invalid_query",
                          "path is that of a stream: 1 to " + std::to_string(bytes_max) +
                              " bytes of UTF-8 without control characters");
  }
  const auto view = control_.view();
  if (!view) return unserved_response(view.error(), "cell_busy");
  const CellMoves moves = gather_moves(env_, *view);
  if (*path) return shown(report_of(*view, moves, hasher_(tenant_, **path).id));
  return shown(encode_bucket_plan(plan_of(view->topology, live_names(*view), moves.moves)));
}

HttpResponse CellRoutes::change(CellStep::Kind kind) {
  const auto step = parse_step(kind, request_.body);
  if (!step) return invalid_body(step.error(), example_of(kind));
  const Time deadline = env_.clock.now() + config_.forward_timeout;
  CellStepper stepper(env_, config_, control_, hops_, deadline);
  auto done = stepper.carry_out(*step);
  if (auto* response = std::get_if<HttpResponse>(&done)) return std::move(*response);
  return changed_response(std::get<Changed>(done));
}

HttpResponse CellRoutes::drain() {
  auto instance = parse_drain(request_.body);
  if (!instance) return invalid_body(instance.error(), R"({"instance":"i2"})");
  return relocate(env_, config_, control_, Drain(*std::move(instance)));
}

HttpResponse CellRoutes::balance() {
  if (auto read = parse_balance(request_.body); !read) return invalid_body(read.error(), "{}");
  return relocate(env_, config_, control_, Balance());
}

}  // namespace morula
