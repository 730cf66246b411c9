// What the machine says about AWS outside our own options: environment variables and profile files.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

class AwsSettings {
 public:
  /// An environment variable; nullopt when it is not set or empty.
  using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

  explicit AwsSettings(Lookup lookup) : lookup_(std::move(lookup)) {}
  /// Of this process.
  static AwsSettings of_process();

  std::optional<std::string> variable(std::string_view name) const { return lookup_(name); }
  /// AWS_PROFILE, AWS_DEFAULT_PROFILE, "default".
  std::string profile() const;
  /// A value of the profile, in the credentials file or else the config file. Reads the files anew.
  std::optional<std::string> in_profile(std::string_view name) const;

  /// `given` (an option), AWS_REGION, AWS_DEFAULT_REGION, the profile's; nullopt.
  std::optional<std::string> region(std::string_view given) const;
  /// `given`, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's; empty: AWS itself.
  std::string endpoint_url(std::string_view given) const;
  /// `given`, AWS_CA_BUNDLE; empty: none.
  std::string ca_file(std::string_view given) const;

 private:
  std::optional<std::string> first_of(std::string_view given,
                                      std::initializer_list<std::string_view> variables,
                                      std::string_view in_profile_name) const;
  std::string file_path(std::string_view variable_name, std::string_view below_home) const;

  Lookup lookup_;
};

/// The whole file; nullopt when it can't be read.
std::optional<std::string> read_text_file(const std::string& path);

}  // namespace morula
