// Puts the parts together: from `--store s3://bucket/prefix` and the machine's AWS settings to a
// Store that has been proven fit.
#pragma once

#include <memory>
#include <string>

#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "prod/loop.hpp"
#include "prod/open_store.hpp"
#include "prod/s3/aws_settings.hpp"
#include "prod/s3/s3_options.hpp"

namespace morula {

/// Proves that the store is fit (prod/s3/s3_probe.hpp); with kInspect it only looks. Waits for an
/// endpoint that is down or overloaded, for as long as it takes, and tells `trace` what it waits
/// for. Errors say what to do. Runs `loop`: never called, and the store never destroyed, by a
/// fiber.
Result<std::unique_ptr<Store>> open_s3_store(Loop& loop, Trace& trace, const std::string& location,
                                             const S3Options& options, const AwsSettings& settings,
                                             StoreAccess access);

}  // namespace morula
