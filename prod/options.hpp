// What `morula serve` can be told, in one table: each option is a flag, an environment variable and
// a line of the configuration file. A flag wins over the environment, that over the file, that over
// the default.
//
//     --lease-alone 20s     MORULA_LEASE_ALONE=20s     lease-alone = 20s
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cell/config.hpp"
#include "prod/http/http_server.hpp"
#include "prod/log_trace.hpp"
#include "prod/open_store.hpp"

namespace morula {

/// What rows, log objects and answers in one piece can be; each holds an append as a whole.
inline constexpr uint64_t kAppendBytesMost = 16 * kMiB;

struct ServeOptions {
  ServeOptions() { instance.log.puts_at_once = 2; }

  StoreOptions store;
  std::string listen = "127.0.0.1:4437";
  std::string name;       // empty: from the host's name and the port
  std::string advertise;  // empty: from `listen`
  bool no_auth = false;
  Severity log_level = Severity::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
  bool profile = false;
  uint64_t compute_threads = 2;
  // Auto where absent: see StoreDefaults.
  std::optional<uint64_t> puts_per_second;
  std::optional<uint64_t> flush_objects;
  // What is left open here is settled by prod/memory_plan.hpp.
  std::optional<uint64_t> memory_mb;
  std::optional<uint64_t> memtable_bytes;  // of all shards together
  std::optional<uint64_t> block_cache_bytes;
  std::string disk_cache;  // "DIR:SIZE"; empty: none
  InstanceConfig instance;
  HttpServerConfig http;
};

/// One row of the table, bound to the field that it sets.
struct Option {
  /// A size in bytes ("16MiB"), as told from a plain number.
  struct ByteCount {
    uint64_t* value;
  };
  /// A size in bytes, or nothing: "auto".
  struct AutoByteCount {
    std::optional<uint64_t>* value;
  };
  /// A number, or nothing: "auto".
  using AutoNumber = std::optional<uint64_t>;
  using Field = std::variant<std::string*, bool*, uint64_t*, AutoNumber*, ByteCount, AutoByteCount,
                             Duration*, Severity*, LogFormat*>;

  /// Of a number or a size, both included.
  struct Range {
    uint64_t least = 0;
    uint64_t most = UINT64_MAX;
  };

  std::string_view name;   // "lease-alone"
  std::string_view group;  // heading in the help
  Field field;
  std::string_view help;                         // what it is for, and why one would change it
  std::string_view other_environment_name = {};  // counts where the first isn't set
  Range range = {};

  /// "MORULA_LEASE_ALONE"
  std::string environment_name() const;
  /// What to write for it: "TEXT", "SIZE", "TIME", "NUMBER"; empty for a switch.
  std::string_view kind() const;
  /// The field's value as it could be written.
  std::string shown() const;
  /// kInvalid, naming the option and what is allowed.
  Result<> set(std::string_view text) const;
};

/// The part of the table that every command has which works on a store.
std::vector<Option> store_option_table(StoreOptions& options);

/// The table, bound to `options`.
std::vector<Option> option_table(ServeOptions& options);

/// "250ms", "3s", "2m", "1h". kInvalid otherwise.
Result<Duration> parse_duration(std::string_view text);
/// "4096", "64KiB", "16MiB", "1GiB". kInvalid otherwise.
Result<uint64_t> parse_byte_count(std::string_view text);

/// Sets options from the text of a configuration file: `name = value` lines, # comments. kInvalid,
/// with the line's number.
Result<> apply_config_text(std::string_view text, const std::vector<Option>& table);

/// Looks every option up by `environment_name`, and by its other one; `lookup` returns null for
/// what is not set.
Result<> apply_environment(const char* (*lookup)(const char* name),
                           const std::vector<Option>& table);

}  // namespace morula
