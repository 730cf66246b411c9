// What fsck says, for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "core/inspect/survey.hpp"

namespace morula {

/// `now`: for ages.
std::string text_report(const std::string& location, const Survey& survey, WallTime now);
/// One JSON object, indented.
std::string json_report(const std::string& location, const Survey& survey);

/// "17 B", "4.2 KiB", "1.0 GiB"
std::string bytes_text(uint64_t bytes);
/// "5 s", "12 min", "3 h", "40 d"
std::string age_text(WallTime then, WallTime now);

}  // namespace morula
