// The `morula` binary: reads the options, then serves.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "prod/options.hpp"
#include "prod/serve.hpp"
#include "prod/version.hpp"

namespace {

using morula::Option;

constexpr int kUsageError = 2;

constexpr const char* kServeFooter = R"(
Each option can also be set in the environment (MORULA_LEASE=20s) and in the file
that --config names (lease = 20s); a flag wins over both.

  morula serve --store file:/srv/cell
  curl -X PUT  http://127.0.0.1:4437/v1/stream/hello -H 'Content-Type: text/plain'
  curl -X POST http://127.0.0.1:4437/v1/stream/hello -H 'Content-Type: text/plain' -d 'words'
  curl         http://127.0.0.1:4437/v1/stream/hello

A cell in S3, or in what speaks like it; the credentials are found as AWS's tools
find them:

  morula serve --store s3://bucket/cell --s3-region eu-west-1
  morula serve --store s3://bucket/cell --s3-endpoint https://store.example:9000

A second instance on the same store is a standby that takes over:

  morula serve --store file:/srv/cell --listen 127.0.0.1:4438

SIGTERM stops gracefully: requests under way are answered, the log is closed, and
another instance takes over at once. A second one exits immediately; nothing that
was acknowledged is lost either way.)";

int usage_error(const std::string& message) {
  std::fprintf(stderr, "morula: %s\nSee: morula serve --help\n", message.c_str());
  return kUsageError;
}

/// Adds the table's flags to `command`; what is given lands in `given`.
void add_flags(CLI::App& command, const std::vector<Option>& table,
               std::map<std::string, std::string, std::less<>>& given) {
  for (const Option& option : table) {
    const std::string flag = "--" + std::string(option.name);
    const std::string name(option.name);
    CLI::Option* added = nullptr;
    if (option.kind().empty()) {
      added = command.add_flag_callback(
          flag, [&given, name] { given[name] = "true"; }, std::string(option.help));
    } else {
      const std::string standard = option.shown();
      added = command.add_option_function<std::string>(
          flag, [&given, name](const std::string& value) { given[name] = value; },
          std::string(option.help) + (standard.empty() ? "" : " [" + standard + "]"));
      added->type_name(std::string(option.kind()));
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    added->group(std::string(option.group));
  }
}

/// File, then environment, then flags: the last word counts.
morula::Result<> apply(const std::vector<Option>& table, const std::string& config_file,
                       const std::map<std::string, std::string, std::less<>>& given) {
  if (!config_file.empty()) {
    std::ifstream file(config_file);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return morula::fail(morula::ErrorCode::kInvalid, "cannot read " + config_file);
    if (const auto set = morula::apply_config_text(text.str(), table); !set) {
      return morula::fail(morula::ErrorCode::kInvalid, config_file + ", " + set.error().message);
    }
  }
  MORULA_TRY(morula::apply_environment(
      [](const char* name) -> const char* { return std::getenv(name); }, table));
  for (const Option& option : table) {
    const auto found = given.find(option.name);
    if (found != given.end()) MORULA_TRY(option.set(found->second));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  morula::ServeOptions options;
  const std::vector<Option> table = morula::option_table(options);
  std::map<std::string, std::string, std::less<>> given;
  std::string config_file;
  if (const char* file = std::getenv("MORULA_CONFIG")) config_file = file;

  CLI::App app("One cell of durable streams, kept in object storage.", "morula");
  app.set_version_flag("--version", std::string("morula ") + morula::kVersion);
  app.require_subcommand(1);
  CLI::App* serve = app.add_subcommand("serve", "Serve the cell that lies in a store over HTTP.");
  serve->add_option("--config", config_file, "File with `name = value` lines (MORULA_CONFIG)");
  serve->footer(kServeFooter);
  add_flags(*serve, table, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (const auto applied = apply(table, config_file, given); !applied) {
    return usage_error(applied.error().message);
  }
  return morula::serve(options);
}
