// `morula fsck`: is everything in the bucket whole, and what lies there for nothing?
#pragma once

#include <vector>

#include "prod/open_store.hpp"
#include "prod/options.hpp"

namespace morula {

struct FsckOptions {
  StoreOptions store;
  bool json = false;
};
std::vector<Option> option_table(FsckOptions& options);

/// Prints what it finds on stdout. 0: sound; kFoundDamage; kCouldNotRead. Changes nothing.
int fsck(const FsckOptions& options);

}  // namespace morula
