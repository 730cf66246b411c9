// A run's figures, for people and for scripts.
#pragma once

#include <string>

#include "bench/density/density_run.hpp"

namespace morula::density {

std::string text_report(const RunConfig& config, const Outcome& outcome);
/// One object on one line.
std::string json_report(const RunConfig& config, const Outcome& outcome);

}  // namespace morula::density
