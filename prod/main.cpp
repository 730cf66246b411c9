// The `morula` binary: reads the options, then does what the command says.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "prod/inspection/cat.hpp"
#include "prod/inspection/fsck.hpp"
#include "prod/operator/cell_command.hpp"
#include "prod/options.hpp"
#include "prod/serve.hpp"
#include "prod/version.hpp"

namespace {

using morula::Option;

constexpr int kUsageError = 2;

constexpr const char* kServeFooter = R"(
Each option can also be set in the environment (MORULA_LEASE=20s) and in the file
that --config names (lease = 20s); a flag wins over the environment, and that over
the file. GET /metrics, /healthz and /readyz are for whoever watches the process.

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
another instance takes over at once. A second signal ends the process at once;
nothing that was acknowledged is lost either way.

Exit codes: 0 stopped; 1 it could not start or go on, with the reason on stderr; 2 an
option that can't be read; 128 + signal after a second signal.)";

constexpr const char* kFsckFooter = R"(
Reads every object and checks its checksums; checks that everything that topology,
manifests and logs name is there; and tells what lies there for nothing. It changes
nothing, and instances may go on serving.

  morula fsck --store file:/srv/cell
  morula fsck --store s3://bucket/prefix --json | jq .damages

Exit codes: 0 sound, 1 damage (each with what it means), 2 wrong usage, or the store
could not be read or the report not be written.)";

constexpr const char* kCatFooter = R"(
Prints what an owner would answer that had just taken over. PATH is the stream's path as
clients name it behind /v1/stream/, without %-escapes. A JSON stream is printed as one
array. Instances may go on serving: appends that are being acknowledged may be there or not.

  morula cat --store file:/srv/cell hello
  morula cat --store file:/srv/cell --offset 0000000000000001_0000000000000011 hello

Exit codes: 0 printed up to the tail; 1 damage, after what is sound before it; 2 wrong usage,
or the store could not be read or the output not be written; 3 no such stream (never
created, deleted, expired) or offset.)";

constexpr const char* kCellFooter = R"(
Any instance of the cell can be asked; it sees to it that the owner of the shard does it.
PREFIX is a shard as `show` names it: root, or its bits. INSTANCE is an instance's name.

  morula cell show                 who has what, as a picture and as tables
  morula cell split 01             shard 01 becomes 010 and 011; nothing stops meanwhile
  morula cell merge 0              00 and 01 become 0; where they live apart, 01 moves first
  morula cell move 01 b            instance b gets the shard
  morula cell drain a              every shard of a goes to the live instance with fewest;
                                   then `a` may be stopped without anybody waiting for it
  morula cell balance              every live instance gets as many shards, or one more, by the
                                   fewest moves
  morula cell show --url http://127.0.0.1:4438 --json | jq .shards

What is asked for twice is done once: the second time it was so already, which is no error.

Exit codes: 0 it is so, or shown; 1 refused, not done, or no instance to be reached, with the
reason and what can be done on stderr; 2 wrong usage, or the answer could not be written.)";

int usage_error(const std::string& command, const std::string& message) {
  std::fprintf(stderr, "morula: %s\nSee: morula %s --help\n", message.c_str(), command.c_str());
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

/// kInvalid: it can't be read to its end; a directory opens, too.
morula::Result<std::string> text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::array<char, 4096> piece{};
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(file.gcount()));
  }
  if (file.is_open() && !file.bad()) return text;
  return morula::fail(morula::ErrorCode::kInvalid, "cannot read " + path);
}

/// File, then environment, then flags: the last word counts.
morula::Result<> apply(const std::vector<Option>& table, const std::string& config_file,
                       const std::map<std::string, std::string, std::less<>>& given) {
  if (!config_file.empty()) {
    const auto text = text_of(config_file);
    MORULA_TRY(text);
    if (const auto set = morula::apply_config_text(*text, table); !set) {
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

/// One command with its options, which are bound to what `run` uses.
struct Command {
  CLI::App* app;
  std::vector<Option> table;
  std::function<int()> run;
  std::map<std::string, std::string, std::less<>> given = {};
};

/// The commands below `cell`, each of which also takes the flags of `cell` itself.
void add_cell_commands(CLI::App& cell, morula::CellOptions& options) {
  using What = morula::CellOptions::What;
  const auto add = [&](What what, const char* name, const char* help) {
    CLI::App& command = *cell.add_subcommand(name, help);
    command.fallthrough();
    command.footer("Also takes --url and --json; see: morula cell --help");
    command.callback([&options, what] { options.what = what; });
    if (morula::names_shard(what)) {
      command.add_option("PREFIX", options.prefix, "The shard: root, or its bits")->required();
    }
    if (morula::names_instance(what)) {
      command.add_option("INSTANCE", options.instance, "An instance's name")->required();
    }
  };
  add(What::kShow, "show", "Show shards, instances, and who has what.");
  add(What::kSplit, "split", "Divide a shard into its two halves.");
  add(What::kMerge, "merge", "Make one shard of its two halves; PREFIX is the one's.");
  add(What::kMove, "move", "Hand a shard over to an instance.");
  add(What::kDrain, "drain", "Hand every shard of an instance over to the others.");
  add(What::kBalance, "balance", "Give every live instance as many shards as any other.");
  cell.require_subcommand(1);
  cell.footer(kCellFooter);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  std::string config_file;
  CLI::App app("One cell of durable streams, kept in object storage.", "morula");
  app.set_version_flag("--version", std::string("morula ") + morula::kVersion);
  app.require_subcommand(1);

  morula::ServeOptions serve;
  morula::FsckOptions fsck;
  morula::CatOptions cat;
  morula::CellOptions cell;
  std::array<Command, 4> commands = {
      Command{app.add_subcommand("serve", "Serve the cell that lies in a store over HTTP."),
              morula::option_table(serve), [&] { return morula::serve(serve); }},
      Command{app.add_subcommand("fsck", "Look whether everything in a cell's store is whole."),
              morula::option_table(fsck), [&] { return morula::fsck(fsck); }},
      Command{
          app.add_subcommand("cat", "Print a stream straight from the store, without a server."),
          morula::option_table(cat), [&] { return morula::cat(cat); }},
      Command{app.add_subcommand("cell", "See a running cell's shards; split, merge, move them."),
              morula::option_table(cell), [&] { return morula::cell(cell); }}};
  commands[0].app->add_option("--config", config_file,
                              "File with `name = value` lines (MORULA_CONFIG)");
  commands[0].app->footer(kServeFooter);
  commands[1].app->footer(kFsckFooter);
  commands[2].app->footer(kCatFooter);
  commands[2].app->add_option("PATH", cat.path, "Path of the stream")->required();
  add_cell_commands(*commands[3].app, cell);
  for (Command& command : commands) add_flags(*command.app, command.table, command.given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  for (Command& command : commands) {
    if (!command.app->parsed()) continue;
    if (&command == &commands[0] && config_file.empty()) {
      if (const char* file = std::getenv("MORULA_CONFIG")) config_file = file;
    }
    const auto applied = apply(command.table, config_file, command.given);
    if (!applied) return usage_error(command.app->get_name(), applied.error().message);
    return command.run();
  }
  return kUsageError;
}
