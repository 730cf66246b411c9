#include "core/store/keys.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/json.hpp"

namespace morula::keys {

namespace {

constexpr std::string_view kJson = ".json";
constexpr size_t kDigits = 20;

std::string digits20(uint64_t v) {
  const std::string digits = std::to_string(v);
  return std::string(kDigits - digits.size(), '0') + digits;
}

tl::unexpected<Error> wrong_key(std::string_view key, std::string_view what) {
  return fail(ErrorCode::kCorrupt,
              "key " + json_quote(key) + " is not that of " + std::string(what));
}

/// All of `text` as a number without leading zeros; nullopt for anything else.
std::optional<uint64_t> plain_number(std::string_view text) {
  uint64_t value = 0;
  const auto read = std::from_chars(text.begin(), text.end(), value);
  if (read.ec != std::errc() || read.ptr != text.end() || std::to_string(value) != text) {
    return std::nullopt;
  }
  return value;
}

/// "<epoch>-<base version>-<ulid>.manifest" in a folder of the shard.
std::optional<Parsed> parse_manifest(std::string_view rest) {
  constexpr std::string_view kEnd = ".manifest";
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !rest.ends_with(kEnd)) return std::nullopt;
  const auto shard = Prefix::parse(rest.substr(0, slash));
  rest = rest.substr(slash + 1, rest.size() - slash - 1 - kEnd.size());
  const size_t first = rest.find('-');
  const size_t second = rest.find('-', first == std::string_view::npos ? first : first + 1);
  if (!shard || second == std::string_view::npos) return std::nullopt;
  const auto epoch = plain_number(rest.substr(0, first));
  const auto base = plain_number(rest.substr(first + 1, second - first - 1));
  if (!epoch || !base || !Ulid::parse(rest.substr(second + 1))) return std::nullopt;
  Parsed parsed;
  parsed.kind = Parsed::Kind::kManifest;
  parsed.shard = *shard;
  parsed.epoch = Epoch(*epoch);
  parsed.base_topology = Version(*base);
  return parsed;
}

/// "<name>-<incarnation>/<number:020>.sst"
std::optional<Parsed> parse_table(std::string_view rest) {
  constexpr std::string_view kEnd = ".sst";
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !rest.ends_with(kEnd)) return std::nullopt;
  const auto writer = IncarnationId::parse(rest.substr(0, slash));
  const std::string_view number = rest.substr(slash + 1, rest.size() - slash - 1 - kEnd.size());
  Parsed parsed;
  parsed.kind = Parsed::Kind::kTable;
  const auto read = std::from_chars(number.begin(), number.end(), parsed.number);
  const bool whole = number.size() == kDigits && read.ec == std::errc() && read.ptr == number.end();
  if (!writer || !whole) return std::nullopt;
  parsed.incarnation = *writer;
  return parsed;
}

std::optional<Parsed> parse_log_object(std::string_view key) {
  const auto seq = log_seq(key);
  if (!seq) return std::nullopt;
  Parsed parsed;
  parsed.kind = Parsed::Kind::kLogObject;
  parsed.seq = *seq;
  key = key.substr(kLogs.size(), key.size() - kLogs.size() - kDigits - 1);
  parsed.incarnation = *IncarnationId::parse(key);
  return parsed;
}

}  // namespace

std::string member(std::string_view name) {
  return std::string(kMembers) + std::string(name) + std::string(kJson);
}

Result<std::string> member_name(std::string_view key) {
  std::string_view name = key;
  if (name.starts_with(kMembers) && name.ends_with(kJson)) {
    name.remove_prefix(kMembers.size());
    if (name.size() >= kJson.size()) name.remove_suffix(kJson.size());
    if (is_valid_instance_name(name)) return std::string(name);
  }
  return wrong_key(key, "a member document");
}

std::string log_folder(const IncarnationId& incarnation) {
  return std::string(kLogs) + incarnation.text() + "/";
}

std::string log_object(const IncarnationId& incarnation, LogSeq seq) {
  return log_folder(incarnation) + digits20(seq.value);
}

Result<LogSeq> log_seq(std::string_view key) {
  std::string_view rest = key;
  if (rest.starts_with(kLogs) && rest.size() > kLogs.size() + kDigits + 1) {
    rest.remove_prefix(kLogs.size());
    const std::string_view number = rest.substr(rest.size() - kDigits);
    const std::string_view folder = rest.substr(0, rest.size() - kDigits);
    uint64_t seq = 0;
    const auto read = std::from_chars(number.begin(), number.end(), seq);
    if (folder.ends_with('/') && IncarnationId::parse(folder.substr(0, folder.size() - 1)) &&
        read.ec == std::errc() && read.ptr == number.end()) {
      return LogSeq(seq);
    }
  }
  return wrong_key(key, "a log object");
}

std::optional<Parsed> parse(std::string_view key) {
  Parsed parsed;
  if (key == kCell) return parsed;
  if (key == kTopology) {
    parsed.kind = Parsed::Kind::kTopologyJson;
    return parsed;
  }
  if (auto name = member_name(key)) {
    parsed.kind = Parsed::Kind::kMember;
    parsed.name = std::move(*name);
    return parsed;
  }
  if (key.starts_with(kManifests)) return parse_manifest(key.substr(kManifests.size()));
  if (key.starts_with(kTables)) return parse_table(key.substr(kTables.size()));
  return parse_log_object(key);
}

std::string manifest(Prefix shard, Epoch epoch, Version base_topology, Ulid attempt) {
  return std::string(kManifests) + shard.text() + "/" + std::to_string(epoch.value) + "-" +
         std::to_string(base_topology.value) + "-" + attempt.text() + ".manifest";
}

std::string table(const IncarnationId& writer, uint64_t number) {
  return std::string(kTables) + writer.text() + "/" + digits20(number) + ".sst";
}

}  // namespace morula::keys
