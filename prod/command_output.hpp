// What commands print: what was asked for on stdout, why something is not so on stderr. What can't
// be written (a full disk, a pipe that nobody reads) is told at the end at the latest, since stdio
// keeps it until then.
#pragma once

#include <string>
#include <string_view>

namespace morula {

/// "morula: MESSAGE" on stderr.
void complain(const std::string& message);

/// To stdout. False: it could not be written, which `finish_output` will tell.
bool print(std::string_view bytes);

/// After the last `print`. False: not everything could be written; it has complained.
bool finish_output();

}  // namespace morula
