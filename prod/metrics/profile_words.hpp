// A write profile, told to a person.
#pragma once

#include <string>
#include <string_view>

#include "core/store/write_profile.hpp"

namespace morula {

/// The figures, and a sentence on whether batching could help. `envelopes` and `round_trips`: what
/// they are called, in the plural ("appends", "log writes").
std::string in_words(const WriteProfile::Figures& figures, std::string_view envelopes,
                     std::string_view round_trips);

}  // namespace morula
