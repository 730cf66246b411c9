// What a command can be told about a store of S3; what is empty comes from the machine's AWS
// settings (prod/s3/aws_settings.hpp).
#pragma once

#include <string>

namespace morula {

struct S3Options {
  std::string endpoint;             // --s3-endpoint
  std::string region;               // --s3-region
  std::string addressing = "auto";  // --s3-addressing
  std::string ca_file;              // --s3-ca-file
};

}  // namespace morula
