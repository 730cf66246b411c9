#include "prod/operator/cell_report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/json.hpp"

namespace morula {
namespace {

constexpr uint64_t kColumns = 64;
constexpr uint64_t kUnits = uint64_t{1} << Prefix::kMaxLength;
constexpr uint64_t kUnitsOfColumn = kUnits / kColumns;
constexpr std::string_view kIndent = "            ";

uint64_t begin_of(Prefix prefix) {
  return uint64_t{prefix.bits} << (Prefix::kMaxLength - prefix.length);
}
uint64_t end_of(Prefix prefix) {
  return begin_of(prefix) + (kUnits >> prefix.length);
}

/// 'a' for the first member, ...
char letter_of(const CellReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.members, name, &CellReport::Member::name);
  const auto index = found - report.members.begin();
  if (found == report.members.end() || index >= 26) return '?';
  return static_cast<char>('a' + index);
}

char letter_of(const CellReport& report, const CellReport::Shard& shard) {
  const char letter = letter_of(report, shard.owner);
  const bool capital = !shard.to.empty() && letter != '?';
  return capital ? static_cast<char>(letter - 'a' + 'A') : letter;
}

char column_of(const CellReport& report, uint64_t column) {
  const uint64_t begin = column * kUnitsOfColumn;
  char letter = ' ';
  for (const CellReport::Shard& shard : report.shards) {
    if (end_of(shard.prefix) <= begin || begin_of(shard.prefix) >= begin + kUnitsOfColumn) continue;
    const char its = letter_of(report, shard);
    letter = letter == ' ' || letter == its ? its : '*';
  }
  return letter;
}

std::string share_text(Prefix prefix) {
  return prefix.length == 0 ? "all" : fmt::format("1/{}", uint64_t{1} << prefix.length);
}

Result<CellReport::Shard> parse_shard(const Json& json) {
  CellReport::Shard shard;
  const auto prefix_text = json.string_at("prefix");
  MORULA_TRY(prefix_text);
  const auto prefix = Prefix::parse(*prefix_text);
  MORULA_TRY(prefix);
  auto epoch = json.u64_at("epoch");
  MORULA_TRY(epoch);
  auto owner = json.string_at("owner");
  MORULA_TRY(owner);
  const auto live = json.bool_at("live");
  MORULA_TRY(live);
  return CellReport::Shard{*prefix, *epoch, *std::move(owner), *live, {}};
}

Result<CellReport::Member> parse_member(const Json& json) {
  auto name = json.string_at("name");
  MORULA_TRY(name);
  auto address = json.string_at("address");
  MORULA_TRY(address);
  auto state = json.string_at("state");
  MORULA_TRY(state);
  const auto shards = json.u64_at("shards");
  MORULA_TRY(shards);
  return CellReport::Member{*std::move(name), *std::move(address), *std::move(state), *shards};
}

Result<> add_moves(const Json& json, CellReport& report) {
  const auto moves = json.array_at("moves");
  MORULA_TRY(moves);
  for (const Json& move : *moves) {
    const auto prefix = move.string_at("prefix");
    MORULA_TRY(prefix);
    const auto to = move.string_at("to");
    MORULA_TRY(to);
    for (CellReport::Shard& shard : report.shards) {
      if (shard.prefix.text() == *prefix) shard.to = *to;
    }
  }
  return {};
}

}  // namespace

Result<CellReport> parse_cell_report(std::string_view body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  CellReport report;
  const auto version = json->u64_at("version");
  MORULA_TRY(version);
  report.version = *version;
  auto asked = json->string_at("asked");
  MORULA_TRY(asked);
  report.asked = *std::move(asked);
  const auto shards = json->array_at("shards");
  MORULA_TRY(shards);
  for (const Json& entry : *shards) {
    auto shard = parse_shard(entry);
    MORULA_TRY(shard);
    report.shards.push_back(*std::move(shard));
  }
  const auto members = json->array_at("members");
  MORULA_TRY(members);
  for (const Json& entry : *members) {
    auto member = parse_member(entry);
    MORULA_TRY(member);
    report.members.push_back(*std::move(member));
  }
  const auto silent = json->array_at("silent");
  MORULA_TRY(silent);
  for (const Json& name : *silent) {
    if (const std::string* text = name.as_string()) report.silent.push_back(*text);
  }
  MORULA_TRY(add_moves(*json, report));
  return report;
}

std::string picture_of(const CellReport& report) {
  std::string owners;
  for (uint64_t column = 0; column < kColumns; ++column) owners += column_of(report, column);
  std::string prefixes(kColumns, ' ');
  for (const CellReport::Shard& shard : report.shards) {
    const uint64_t begin = begin_of(shard.prefix) / kUnitsOfColumn;
    const uint64_t width = (end_of(shard.prefix) - begin_of(shard.prefix)) / kUnitsOfColumn;
    std::string label = "|" + shard.prefix.text();
    if (label.size() >= width) label = "|";
    prefixes.replace(begin, label.size(), label);
  }
  prefixes.erase(prefixes.find_last_not_of(' ') + 1);
  return fmt::format("hash space  {}\n{}{}\n", owners, kIndent, prefixes);
}

std::string text_of(const CellReport& report) {
  const auto live = std::ranges::count(report.members, "live", &CellReport::Member::state);
  std::string text = fmt::format("topology version {}: {} shard{}, {} of {} instances live\n\n",
                                 report.version, report.shards.size(),
                                 report.shards.size() == 1 ? "" : "s", live, report.members.size());
  text += picture_of(report);
  auto out = std::back_inserter(text);
  size_t name_width = 8;
  for (const CellReport::Member& member : report.members) {
    name_width = std::max(name_width, member.name.size());
  }
  fmt::format_to(out, "\n  {:<{}}  {:<7}  {:>6}  {}\n", "instance", name_width, "state", "shards",
                 "address");
  for (const CellReport::Member& member : report.members) {
    fmt::format_to(out, "{} {:<{}}  {:<7}  {:>6}  {}\n", letter_of(report, member.name),
                   member.name, name_width, member.state, member.shards, member.address);
  }
  fmt::format_to(out, "\n  {:<12}  {:>6}  {:>6}  {}\n", "shard", "share", "epoch", "owner");
  for (const CellReport::Shard& shard : report.shards) {
    std::string owner = shard.owner;
    if (!shard.live) owner += ", gone: another takes over";
    if (!shard.to.empty()) owner += ", moving to " + shard.to;
    fmt::format_to(out, "{} {:<12}  {:>6}  {:>6}  {}\n", letter_of(report, shard),
                   shard.prefix.text(), share_text(shard.prefix), shard.epoch, owner);
  }
  for (const std::string& name : report.silent) {
    fmt::format_to(out, "\n{} does not answer: whether its shards are moving is not known\n", name);
  }
  return text;
}

}  // namespace morula
