// `morula cat`: a stream's bytes straight from the bucket, without a server.
#pragma once

#include <string>
#include <vector>

#include "prod/open_store.hpp"
#include "prod/options.hpp"

namespace morula {

struct CatOptions {
  StoreOptions store;
  std::string path;
  std::string tenant = "default";
  std::string offset = "-1";
};
/// All but `path`, which is the command's argument.
std::vector<Option> option_table(CatOptions& options);

/// Prints the stream on stdout. 0: all of it; kFoundDamage, kCouldNotRead, kNothingToRead, with the
/// reason on stderr. Changes nothing.
int cat(const CatOptions& options);

}  // namespace morula
