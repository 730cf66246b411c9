#pragma once

namespace morula {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace morula
