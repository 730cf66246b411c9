// Before a cell is kept in a store: proves that it honours both preconditions and that these
// credentials may do what is needed, and learns what differs between stores.
//
// A store that takes every put would lose acknowledged records without a word, so it is refused.
// The probe writes one key of its own, `probe/<drawn>`, and removes it again.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/rt/clock.hpp"
#include "prod/s3/s3_store.hpp"

namespace morula {

/// Sets what it learns on `store`. `name`: drawn by the caller, never used before. Suspends; throws
/// Cancelled. kUnavailable, kTimeout, kThrottled: ask again, with another name. Others are for
/// good, and say what to do.
Result<> probe_s3_store(S3Store& store, Clock& clock, const std::string& name);

/// The part of it that writes nothing: may these credentials list and read?
Result<> probe_s3_reads(S3Store& store, Clock& clock, const std::string& name);

}  // namespace morula
