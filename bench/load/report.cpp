#include "bench/load/report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "core/base/json.hpp"

namespace morula::load {
namespace {

double us(uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

double per(uint64_t sum, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

double cpu_us(const ProcessUsage& usage, uint64_t count) {
  return per(usage.user_us + usage.system_us, count);
}

std::string latency_line(const char* name, const LatencyHistogram& latencies) {
  if (latencies.count() == 0) return {};
  return fmt::format("{}  p50 {:.0f}  p99 {:.0f}  p99.9 {:.0f}  max {:.0f} us\n", name,
                     us(latencies.percentile(0.5)), us(latencies.percentile(0.99)),
                     us(latencies.percentile(0.999)), us(latencies.largest()));
}

std::string latency_json(const LatencyHistogram& latencies) {
  return fmt::format(R"({{"count":{},"p50":{:.1f},"p99":{:.1f},"p999":{:.1f},"max":{:.1f}}})",
                     latencies.count(), us(latencies.percentile(0.5)),
                     us(latencies.percentile(0.99)), us(latencies.percentile(0.999)),
                     us(latencies.largest()));
}

}  // namespace

std::string text_report(const ReportContext& context, const Outcome& outcome) {
  const uint64_t count = outcome.answered();
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {} connections, {} streams, records of {} B, {}\n", context.system,
                 context.workload.connections, context.workload.streams,
                 context.workload.record_bytes,
                 context.config.rate > 0
                     ? fmt::format("open loop at {:.0f} a second", context.config.rate)
                     : fmt::format("closed loop, {} under way on each", context.config.depth));
  fmt::format_to(out, "answered {} in {:.2f} s: {:.0f} a second\n", count, outcome.seconds,
                 outcome.seconds > 0 ? static_cast<double>(count) / outcome.seconds : 0);
  text += latency_line("appends", outcome.appends);
  text += latency_line("reads  ", outcome.reads);
  text += "statuses";
  for (const auto& [status, times] : outcome.statuses) {
    fmt::format_to(out, "  {}: {}", status, times);
  }
  text += "\n";
  if (!outcome.first_failure.empty()) {
    fmt::format_to(out, "first failure: {}\n", outcome.first_failure);
  }
  if (outcome.lost + outcome.unanswered + outcome.behind > 0) {
    fmt::format_to(out, "lost {}  unanswered {}  due but not sent {}\n", outcome.lost,
                   outcome.unanswered, outcome.behind);
  }
  fmt::format_to(out, "bytes sent {}  received {}\n", outcome.bytes_sent, outcome.bytes_received);
  if (context.config.server_pid != 0) {
    fmt::format_to(out, "server CPU {:.1f} us a request (user {:.1f}, system {:.1f}), {} MiB\n",
                   cpu_us(outcome.server, count), per(outcome.server.user_us, count),
                   per(outcome.server.system_us, count), outcome.server.resident_bytes >> 20);
  }
  fmt::format_to(out, "own CPU {:.1f} us a request\n", cpu_us(outcome.own, count));
  if (outcome.interrupted) text += "interrupted\n";
  return text;
}

std::string json_report(const ReportContext& context, const Outcome& outcome) {
  const uint64_t count = outcome.answered();
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      R"({{"system":"{}","connections":{},"streams":{},"record_bytes":{},"depth":{},"rate":{:.0f},)"
      R"("seconds":{:.3f},"answered":{},"per_second":{:.1f},)"
      R"("append_us":{},"read_us":{},"statuses":{{)",
      context.system, context.workload.connections, context.workload.streams,
      context.workload.record_bytes, context.config.depth, context.config.rate, outcome.seconds,
      count, outcome.seconds > 0 ? static_cast<double>(count) / outcome.seconds : 0,
      latency_json(outcome.appends), latency_json(outcome.reads));
  const char* comma = "";
  for (const auto& [status, times] : outcome.statuses) {
    fmt::format_to(out, "{}\"{}\":{}", comma, status, times);
    comma = ",";
  }
  fmt::format_to(out,
                 R"(}},"first_failure":{},"lost":{},"unanswered":{},"behind":{},"bytes_sent":{},)"
                 R"("bytes_received":{},"own_cpu_us":{:.2f},"interrupted":{})",
                 json_quote(outcome.first_failure), outcome.lost, outcome.unanswered,
                 outcome.behind, outcome.bytes_sent, outcome.bytes_received,
                 cpu_us(outcome.own, count), outcome.interrupted);
  if (context.config.server_pid != 0) {
    fmt::format_to(out,
                   R"(,"server_cpu_us":{:.2f},"server_user_us":{:.2f},"server_system_us":{:.2f},)"
                   R"("server_resident_bytes":{})",
                   cpu_us(outcome.server, count), per(outcome.server.user_us, count),
                   per(outcome.server.system_us, count), outcome.server.resident_bytes);
  }
  text += "}\n";
  return text;
}

}  // namespace morula::load
