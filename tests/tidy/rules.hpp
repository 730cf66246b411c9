// The rules. Each looks at a whole tree and returns what breaks it, in order of path and line.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_tree.hpp"

namespace morula::tidy {

// text_rules.cpp: how a file looks.
Findings files_are_short(const SourceTree& tree);
Findings functions_fit_a_screen(const SourceTree& tree);
Findings lines_fit(const SourceTree& tree);
Findings nothing_is_left_to_do(const SourceTree& tree);
Findings names_say_something(const SourceTree& tree);
Findings headers_guard_themselves(const SourceTree& tree);

// include_rules.cpp: who may know whom.
Findings core_includes_only_what_is_allowed(const SourceTree& tree);
Findings rooms_include_downwards(const SourceTree& tree);
Findings heavy_headers_stay_out_of_headers(const SourceTree& tree);

// core_rules.cpp: what core's promises rest on.
Findings core_is_deterministic(const SourceTree& tree);
Findings steps_are_taken(const SourceTree& tree);
Findings mutants_are_used(const SourceTree& tree);

// build_rules.cpp
Findings no_header_is_dead(const SourceTree& tree);
/// `compile_commands` is the text of that file of CMake's.
Findings every_source_is_built(const SourceTree& tree, const std::string& compile_commands);
/// Compiles every header alone that is not the first include of a source (then the build proves
/// it), as many at once as there are processors.
Findings headers_stand_alone(const SourceTree& tree, const std::string& compiler);

}  // namespace morula::tidy
