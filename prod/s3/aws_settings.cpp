#include "prod/s3/aws_settings.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "prod/s3/aws_profile.hpp"

namespace morula {

std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

AwsSettings AwsSettings::of_process() {
  return AwsSettings([](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  });
}

std::string AwsSettings::profile() const {
  if (const auto name = variable("AWS_PROFILE")) return *name;
  return variable("AWS_DEFAULT_PROFILE").value_or("default");
}

std::string AwsSettings::file_path(std::string_view variable_name,
                                   std::string_view below_home) const {
  if (const auto path = variable(variable_name)) return *path;
  const auto home = variable("HOME");
  return home ? *home + "/" + std::string(below_home) : std::string();
}

std::optional<std::string> AwsSettings::in_profile(std::string_view name) const {
  for (const std::string& path : {file_path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
                                  file_path("AWS_CONFIG_FILE", ".aws/config")}) {
    const auto text = read_text_file(path);
    if (!text) continue;
    const AwsSections sections = parse_aws_profiles(*text);
    const auto section = sections.find(profile());
    if (section == sections.end()) continue;
    const auto value = section->second.find(name);
    if (value != section->second.end() && !value->second.empty()) return value->second;
  }
  return std::nullopt;
}

std::optional<std::string> AwsSettings::first_of(std::string_view given,
                                                 std::initializer_list<std::string_view> variables,
                                                 std::string_view in_profile_name) const {
  if (!given.empty()) return std::string(given);
  for (const std::string_view name : variables) {
    if (auto value = variable(name)) return value;
  }
  return in_profile(in_profile_name);
}

std::optional<std::string> AwsSettings::region(std::string_view given) const {
  return first_of(given, {"AWS_REGION", "AWS_DEFAULT_REGION"}, "region");
}

std::string AwsSettings::endpoint_url(std::string_view given) const {
  return first_of(given, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "endpoint_url").value_or("");
}

std::string AwsSettings::ca_file(std::string_view given) const {
  return first_of(given, {"AWS_CA_BUNDLE"}, "ca_bundle").value_or("");
}

}  // namespace morula
