#include "prod/command_output.hpp"

#include <cstdio>

namespace morula {

void complain(const std::string& message) {
  std::fprintf(stderr, "morula: %s\n", message.c_str());
}

bool print(std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
}

bool finish_output() {
  // Flushing what an earlier write has failed on may find nothing left to do.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain("can't write to the output");
  return false;
}

}  // namespace morula
