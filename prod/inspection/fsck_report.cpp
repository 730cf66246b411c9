#include "prod/inspection/fsck_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/json.hpp"

namespace morula {
namespace {

std::string owner_text(const ShardView& shard) {
  if (!shard.owner) return "its owner has no member document";
  switch (shard.owner->state) {
    case MemberState::kLive:
      return "live at " + shard.owner->address + ", or died without a word";
    case MemberState::kExpired:
      return "expired: the next instance takes over";
    case MemberState::kStopped:
      return "stopped: the next instance takes over";
  }
  return "?";
}

void add_cell(std::string& text, const std::string& location, const StoredCell& view) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n", location);
  if (view.cell) fmt::format_to(out, "  cell {}\n", view.cell->cell.text());
  if (view.topology) fmt::format_to(out, "  topology version {}\n", view.topology->version.value);
  for (const ShardView& shard : view.shards) {
    fmt::format_to(out, "  shard {}, epoch {}, owner {}: {}\n", shard.row.prefix.text(),
                   shard.row.epoch.value, shard.row.owner.text(), owner_text(shard));
  }
  text += '\n';
}

void add_damages(std::string& text, const Survey& survey) {
  for (const Damage& damage : survey.damages) {
    fmt::format_to(std::back_inserter(text), "DAMAGE {}: {}\n       {}\n", damage.key, damage.what,
                   damage.meaning);
  }
  if (!survey.damages.empty()) text += '\n';
}

void add_amount(std::string& text, std::string_view name, const Amount& amount, WallTime now) {
  fmt::format_to(std::back_inserter(text), "{:>10}  {:>10}  {:>8}  {}\n", amount.objects,
                 bytes_text(amount.bytes), amount.oldest ? age_text(*amount.oldest, now) : "",
                 name);
}

void add_table(std::string& text, const Survey& survey, WallTime now) {
  fmt::format_to(std::back_inserter(text), "{:>10}  {:>10}  {:>8}\n", "objects", "bytes", "oldest");
  Amount all;
  for (const auto& [kind, amount] : survey.objects) {
    add_amount(text, to_string(kind), amount, now);
    all.objects += amount.objects;
    all.bytes += amount.bytes;
  }
  add_amount(text, "in all", all, now);
  if (survey.unneeded.empty()) return;
  text += "\nof these, no document names\n";
  for (const Unneeded& group : survey.unneeded) {
    std::string name = (group.is_waste ? "(waste) " : "") + group.why;
    if (group.is_waste || group.amount.objects == 1) name += ", such as " + group.example;
    add_amount(text, name, group.amount, now);
  }
}

Json json_amount(const Amount& amount) {
  Json::Object object{{"objects", amount.objects}, {"bytes", amount.bytes}};
  if (amount.oldest) object.emplace("oldest_ms", Json(amount.oldest->ms));
  return object;
}

Json json_shard(const ShardView& shard) {
  return Json::Object{
      {"prefix", shard.row.prefix.text()},
      {"epoch", shard.row.epoch.value},
      {"owner", shard.row.owner.text()},
      {"owner_state", shard.owner ? std::string(to_string(shard.owner->state)) : "unknown"},
      {"manifest", shard.row.manifest}};
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string age_text(WallTime then, WallTime now) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  const int64_t seconds = std::max<int64_t>(0, now.ms - then.ms) / 1000;
  if (seconds < 2 * kMinute) return fmt::format("{} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{} h", seconds / kHour);
  return fmt::format("{} d", seconds / kDay);
}

std::string text_report(const std::string& location, const Survey& survey, WallTime now) {
  std::string text;
  add_cell(text, location, survey.view);
  add_damages(text, survey);
  add_table(text, survey, now);
  auto out = std::back_inserter(text);
  if (survey.changed_meanwhile > 0) {
    fmt::format_to(out, "\n{} objects came or went meanwhile: the cell is being served\n",
                   survey.changed_meanwhile);
  }
  if (survey.sound()) {
    text += "\nsound: every object is whole, and everything that is named is there\n";
  } else {
    fmt::format_to(out, "\n{} damage{} found, each told above with what it means\n",
                   survey.damages.size(), survey.damages.size() == 1 ? "" : "s");
  }
  return text;
}

std::string json_report(const std::string& location, const Survey& survey) {
  Json::Object report{{"store", location},
                      {"sound", survey.sound()},
                      {"changed_meanwhile", survey.changed_meanwhile}};
  const StoredCell& view = survey.view;
  if (view.cell) report.emplace("cell", view.cell->cell.text());
  if (view.topology) report.emplace("topology_version", view.topology->version.value);
  Json::Array shards;
  for (const ShardView& shard : view.shards) shards.push_back(json_shard(shard));
  report.emplace("shards", std::move(shards));
  Json::Array damages;
  for (const Damage& damage : survey.damages) {
    damages.emplace_back(
        Json::Object{{"key", damage.key}, {"what", damage.what}, {"meaning", damage.meaning}});
  }
  report.emplace("damages", std::move(damages));
  Json::Object objects;
  for (const auto& [kind, amount] : survey.objects) {
    objects.emplace(std::string(to_string(kind)), json_amount(amount));
  }
  report.emplace("objects", std::move(objects));
  Json::Array unneeded;
  for (const Unneeded& group : survey.unneeded) {
    unneeded.emplace_back(Json::Object{{"why", group.why},
                                       {"waste", group.is_waste},
                                       {"example", group.example},
                                       {"amount", json_amount(group.amount)}});
  }
  report.emplace("unneeded", std::move(unneeded));
  return Json(std::move(report)).pretty();
}

}  // namespace morula
