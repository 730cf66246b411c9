// The files that AWS's tools keep profiles in: ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace morula {

/// Names (lower case) and values of each section of such a file. In the config file a profile's
/// section is called "profile NAME": the word is left out here. Nested values and lines that are
/// no `name = value` are ignored.
using AwsSections =
    std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>>;
AwsSections parse_aws_profiles(std::string_view text);

}  // namespace morula
