// Structured logs on stderr, and counters of protocol steps.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/rt/trace.hpp"

namespace morula {

enum class LogFormat : uint8_t { kLogfmt, kJson };

/// "debug", "info", "warning", "error"
std::string_view name_of(Severity severity);
std::optional<Severity> parse_severity(std::string_view name);
/// "logfmt", "json"
std::string_view name_of(LogFormat format);
std::optional<LogFormat> parse_log_format(std::string_view name);

/// One line per event: time, level, event, fields. Steps are lines of level debug. Lines are
/// written by a thread of their own, so that a full pipe never stops the loop: then the oldest are
/// lost. `log` may be called from any thread.
class LogTrace final : public Trace {
 public:
  LogTrace(Severity least, LogFormat format);
  /// Writes what is queued.
  ~LogTrace() override;

  void step(const StepEvent& event) override;
  void log(Severity severity, std::string_view event,
           std::initializer_list<LogField> fields) override;
  void sometimes(std::string_view, bool) override {}

  /// How often each step was taken.
  uint64_t count(Step step) const { return counts_[static_cast<size_t>(step)]; }

 private:
  struct Sink;

  Severity least_;
  LogFormat format_;
  std::array<uint64_t, 64> counts_{};
  std::unique_ptr<Sink> sink_;
};

/// The line without its end, as LogTrace writes it.
std::string format_log_line(LogFormat format, WallTime wall, Severity severity,
                            std::string_view event, std::initializer_list<LogField> fields);

}  // namespace morula
