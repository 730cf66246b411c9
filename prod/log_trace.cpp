#include "prod/log_trace.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "core/base/json.hpp"
#include "core/base/units.hpp"

namespace morula {
namespace {

constexpr size_t kQueuedLinesMax = 8192;

constexpr std::string_view kSeverities[] = {"debug", "info", "warning", "error"};

bool is_plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c != '"' && c != '=' && c != '\\' && c != 127;
  });
}

std::string time_text(WallTime wall) {
  const auto seconds = static_cast<std::time_t>(wall.ms / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), wall.ms % 1000);
}

WallTime wall_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return WallTime{static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000};
}

}  // namespace

std::string_view name_of(Severity severity) {
  return kSeverities[static_cast<size_t>(severity)];
}

std::string_view name_of(LogFormat format) {
  return format == LogFormat::kJson ? "json" : "logfmt";
}

std::optional<Severity> parse_severity(std::string_view name) {
  for (size_t i = 0; i < std::size(kSeverities); ++i) {
    if (kSeverities[i] == name) return static_cast<Severity>(i);
  }
  return std::nullopt;
}

std::optional<LogFormat> parse_log_format(std::string_view name) {
  if (name == "logfmt") return LogFormat::kLogfmt;
  if (name == "json") return LogFormat::kJson;
  return std::nullopt;
}

std::string format_log_line(LogFormat format, WallTime wall, Severity severity,
                            std::string_view event, std::initializer_list<LogField> fields) {
  std::string line;
  auto out = std::back_inserter(line);
  if (format == LogFormat::kJson) {
    fmt::format_to(out, R"({{"time":"{}","level":"{}","event":{})", time_text(wall),
                   name_of(severity), json_quote(event));
    for (const LogField& field : fields) {
      fmt::format_to(out, ",{}:{}", json_quote(field.name), json_quote(field.value));
    }
    line.push_back('}');
    return line;
  }
  fmt::format_to(out, "time={} level={} event={}", time_text(wall), name_of(severity), event);
  for (const LogField& field : fields) {
    fmt::format_to(out, " {}={}", field.name,
                   is_plain(field.value) ? field.value : json_quote(field.value));
  }
  return line;
}

struct LogTrace::Sink {
  std::shared_ptr<spdlog::details::thread_pool> thread;
  std::shared_ptr<spdlog::async_logger> logger;
};

LogTrace::LogTrace(Severity least, LogFormat format)
    : least_(least), format_(format), sink_(std::make_unique<Sink>()) {
  sink_->thread = std::make_shared<spdlog::details::thread_pool>(kQueuedLinesMax, 1);
  sink_->logger = std::make_shared<spdlog::async_logger>(
      "morula", std::make_shared<spdlog::sinks::stderr_sink_mt>(), sink_->thread,
      spdlog::async_overflow_policy::overrun_oldest);
  sink_->logger->set_pattern("%v");
  sink_->logger->set_level(spdlog::level::trace);
}

LogTrace::~LogTrace() = default;

void LogTrace::step(const StepEvent& event) {
  static_assert(static_cast<size_t>(Step::kLoseLease) < 64);
  ++counts_[static_cast<size_t>(event.step)];
  if (least_ > Severity::kDebug) return;
  log(Severity::kDebug, morula::to_string(event.step),
      {{"actor", event.actor},
       {"subject", event.subject},
       {"position", event.position},
       {"other", event.other}});
}

void LogTrace::log(Severity severity, std::string_view event,
                   std::initializer_list<LogField> fields) {
  if (severity < least_) return;
  sink_->logger->info("{}", format_log_line(format_, wall_now(), severity, event, fields));
}

}  // namespace morula
