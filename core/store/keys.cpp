#include "core/store/keys.hpp"

#include <charconv>

#include "core/base/json.hpp"

namespace morula::keys {

namespace {

constexpr std::string_view kLog = "log/";
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
  return std::string(kLog) + incarnation.text() + "/";
}

std::string log_object(const IncarnationId& incarnation, LogSeq seq) {
  return log_folder(incarnation) + digits20(seq.value);
}

Result<LogSeq> log_seq(std::string_view key) {
  std::string_view rest = key;
  if (rest.starts_with(kLog) && rest.size() > kLog.size() + kDigits + 1) {
    rest.remove_prefix(kLog.size());
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

std::string manifest(Prefix shard, Epoch epoch, Version base_topology, Ulid attempt) {
  return "shards/" + shard.text() + "/" + std::to_string(epoch.value) + "-" +
         std::to_string(base_topology.value) + "-" + attempt.text() + ".manifest";
}

std::string table(const IncarnationId& writer, uint64_t number) {
  return "sst/" + writer.text() + "/" + digits20(number) + ".sst";
}

}  // namespace morula::keys
