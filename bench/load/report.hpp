// A run's outcome, for people and for scripts.
#pragma once

#include <string>

#include "bench/load/load_run.hpp"

namespace morula::load {

struct ReportContext {
  std::string system;  // "morula"
  const Workload& workload;
  const RunConfig& config;
};

std::string text_report(const ReportContext& context, const Outcome& outcome);
/// One object on one line.
std::string json_report(const ReportContext& context, const Outcome& outcome);

}  // namespace morula::load
