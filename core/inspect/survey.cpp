#include "core/inspect/survey.hpp"

#include <algorithm>
#include <utility>

#include "core/inspect/listing_check.hpp"
#include "core/inspect/log_extent.hpp"
#include "core/inspect/needs.hpp"
#include "core/inspect/object_check.hpp"
#include "core/inspect/survey_words.hpp"
#include "core/log/log_object.hpp"
#include "core/rt/concurrently.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

namespace {

using Kind = keys::Parsed::Kind;

constexpr std::string_view kProbes = "probe/";

struct Item {
  ObjectInfo info;
  std::optional<keys::Parsed> parsed;  // nullopt: foreign, or a probe's
  CheckedObject checked;

  bool is_whole() const { return !checked.absent && !checked.damage; }
  ObjectKind kind() const {
    if (!parsed) return info.key.starts_with(kProbes) ? ObjectKind::kProbe : ObjectKind::kForeign;
    switch (parsed->kind) {
      case Kind::kCellJson:
      case Kind::kTopologyJson:
      case Kind::kMember:
        return ObjectKind::kDocument;
      case Kind::kManifest:
        return ObjectKind::kManifest;
      case Kind::kLogObject:
        return info.size == kLogFenceBytes ? ObjectKind::kFence : ObjectKind::kLogObject;
      case Kind::kTable:
        return ObjectKind::kTable;
    }
    return ObjectKind::kForeign;
  }
};

class Walk {
 public:
  Walk(const Env& env, const SurveyConfig& config) : env_(env), config_(config) {}

  Result<Survey> run();

 private:
  Result<> list_everything();
  Result<> check_everything();
  Result<> read_members();

  // What looks wrong with what `needs` names; each is a suspicion until a later view names it, too.
  Result<> suspect_tables(const Needs& needs);
  Result<> suspect_logs(const Needs& needs);
  Result<> suspect_closed_log(const Needs& needs, const Needs::NeededLog& log);
  Result<> suspect_open_log(const Needs& needs, const Needs::NeededLog& log);
  Result<> suspect_missing(const Needs& needs, const std::string& key, const keys::Parsed& parsed);
  Result<> confirm(const StoredCell& view);
  /// Of what is sound so far.
  Result<> check_listings();

  void judge_documents();
  void judge_shard(const ShardView& shard);
  void judge_unneeded(const Needs& before, const Needs& after);
  void accuse(std::string key, std::string what, std::string meaning);
  bool is_live(const IncarnationId& incarnation) const;
  Unneeded why_unneeded(const Item& item, const Needs& needs) const;

  const Env& env_;
  const SurveyConfig& config_;
  Survey survey_;
  std::map<std::string, Item, std::less<>> items_;
  std::map<std::string, Member> members_;

  struct Suspicion {
    std::string key;
    keys::Parsed parsed;
    std::string what;
    std::string meaning;
  };
  std::vector<Suspicion> suspicions_;
};

Result<Survey> Walk::run() {
  auto first = view_stored_cell(env_, config_.retry);
  MORULA_TRY(first);
  MORULA_TRY(list_everything());
  const bool any = std::any_of(items_.begin(), items_.end(),
                               [](const auto& item) { return item.second.parsed.has_value(); });
  if (!first->cell && first->damaged.empty() && !any) {
    return fail(ErrorCode::kNotFound, "there is no cell in this place: no object is morula's");
  }
  MORULA_TRY(check_everything());
  auto second = view_stored_cell(env_, config_.retry);
  MORULA_TRY(second);
  MORULA_TRY(read_members());
  survey_.view = std::move(*second);

  const Needs before(*first);
  const Needs after(survey_.view);
  judge_documents();
  MORULA_TRY(suspect_tables(after));
  MORULA_TRY(suspect_logs(after));
  if (!suspicions_.empty()) {
    auto third = view_stored_cell(env_, config_.retry);
    MORULA_TRY(third);
    MORULA_TRY(confirm(*third));
  }
  if (survey_.damages.empty()) MORULA_TRY(check_listings());
  judge_unneeded(before, after);
  std::stable_sort(survey_.damages.begin(), survey_.damages.end(),
                   [](const Damage& a, const Damage& b) { return a.key < b.key; });
  return std::move(survey_);
}

Result<> Walk::list_everything() {
  return for_each_object(env_, "", "", Purpose::kMetaRead, config_.retry,
                         [&](const ObjectInfo& object) -> Result<> {
                           Item item{object, keys::parse(object.key), {}};
                           survey_.objects[item.kind()].add(object);
                           items_.emplace(object.key, std::move(item));
                           return {};
                         });
}

Result<> Walk::check_everything() {
  std::vector<Item*> known;
  SurveyProgress progress;
  for (auto& [key, item] : items_) {
    if (!item.parsed) continue;
    known.push_back(&item);
    progress.bytes += item.info.size;
  }
  progress.objects = known.size();
  return for_each_concurrently(known.size(), config_.reads_at_once, [&](size_t i) -> Result<> {
    Item& item = *known[i];
    auto checked = check_object(env_, item.info.key, *item.parsed, config_.retry);
    MORULA_TRY(checked);
    item.checked = std::move(*checked);
    if (item.checked.absent) ++survey_.changed_meanwhile;
    ++progress.objects_done;
    progress.bytes_done += item.info.size;
    if (config_.progress) config_.progress(progress);
    return {};
  });
}

Result<> Walk::read_members() {
  for (const auto& [key, item] : items_) {
    if (!item.parsed || item.parsed->kind != Kind::kMember || !item.is_whole()) continue;
    auto member = read_document(env_, key, Purpose::kMetaRead, config_.retry, decode_member);
    if (!member && member.error().code == ErrorCode::kCorrupt) continue;  // told already
    MORULA_TRY(member);
    if (*member) members_[item.parsed->name] = std::move((*member)->content);
  }
  return {};
}

Result<> Walk::suspect_tables(const Needs& needs) {
  for (const auto& [key, table] : needs.tables()) {
    const auto parsed = keys::parse(key);
    if (!parsed || parsed->kind != Kind::kTable) {
      accuse(key, "a manifest names it as a table", words::of_shard(needs.shards_of(key, {})));
      continue;
    }
    const auto found = items_.find(key);
    if (found == items_.end() || found->second.checked.absent) {
      MORULA_TRY(suspect_missing(needs, key, *parsed));
      continue;
    }
    const Item& item = found->second;
    std::optional<std::string> what = item.checked.damage;
    if (!what && item.checked.bytes != table.bytes) {
      what = "it has " + std::to_string(item.checked.bytes) + " bytes, and its manifest says " +
             std::to_string(table.bytes);
    }
    if (what) {
      suspicions_.push_back({key, *parsed, *what, words::of_table(needs.shards_of(key, *parsed))});
    }
  }
  return {};
}

Result<> Walk::suspect_logs(const Needs& needs) {
  for (const Needs::NeededLog& log : needs.logs()) {
    MORULA_TRY(log.to ? suspect_closed_log(needs, log) : suspect_open_log(needs, log));
  }
  // Whole objects only: what is damaged was read above, whether it is in a range or beyond.
  for (const auto& [key, item] : items_) {
    if (!item.parsed || item.parsed->kind != Kind::kLogObject || !item.checked.damage) continue;
    if (!needs.names(key, *item.parsed)) continue;
    suspicions_.push_back({key, *item.parsed, *item.checked.damage,
                           words::of_log(needs.shards_of(key, *item.parsed))});
  }
  return {};
}

Result<> Walk::suspect_closed_log(const Needs& needs, const Needs::NeededLog& log) {
  for (LogSeq seq = log.from; seq < *log.to; ++seq) {
    const std::string key = keys::log_object(log.incarnation, seq);
    const auto found = items_.find(key);
    const auto parsed = *keys::parse(key);
    if (found == items_.end() || found->second.checked.absent) {
      MORULA_TRY(suspect_missing(needs, key, parsed));
    } else if (found->second.is_whole() && found->second.checked.is_fence) {
      suspicions_.push_back({key, parsed, "a fence lies where a batch is needed",
                             words::of_log(needs.shards_of(key, parsed))});
    }
  }
  return {};
}

Result<> Walk::suspect_open_log(const Needs& needs, const Needs::NeededLog& log) {
  const std::string after =
      log.from > LogSeq(0) ? keys::log_object(log.incarnation, log.from - 1) : "";
  auto listed = list_objects(env_, keys::log_folder(log.incarnation), after, Purpose::kMetaRead,
                             config_.retry);
  MORULA_TRY(listed);
  std::vector<ListedLogObject> objects;
  for (const ObjectInfo& object : *listed) {
    const auto seq = keys::log_seq(object.key);
    if (seq) objects.push_back({*seq, object.size == kLogFenceBytes});
  }
  for (const LogSeq hole : log_extent(objects, log.from, survey_.view.window()).holes) {
    const std::string key = keys::log_object(log.incarnation, hole);
    MORULA_TRY(suspect_missing(needs, key, *keys::parse(key)));
  }
  return {};
}

/// It may have come after the listing.
Result<> Walk::suspect_missing(const Needs& needs, const std::string& key,
                               const keys::Parsed& parsed) {
  const auto checked = check_object(env_, key, parsed, config_.retry);
  MORULA_TRY(checked);
  if (!checked->absent && !checked->damage) return {};
  const std::string shards = needs.shards_of(key, parsed);
  suspicions_.push_back(
      {key, parsed, checked->damage.value_or("it is missing"),
       parsed.kind == Kind::kTable ? words::of_table(shards) : words::of_log(shards)});
  return {};
}

/// What no document names any more was deleted by right.
Result<> Walk::confirm(const StoredCell& view) {
  const Needs now(view);
  for (Suspicion& suspicion : suspicions_) {
    if (!now.names(suspicion.key, suspicion.parsed)) {
      ++survey_.changed_meanwhile;
      continue;
    }
    accuse(std::move(suspicion.key), std::move(suspicion.what), std::move(suspicion.meaning));
  }
  return {};
}

Result<> Walk::check_listings() {
  for (const ShardView& shard : survey_.view.shards) {
    if (!shard.manifest) continue;
    const auto wrong = check_listing(env_, *shard.manifest);
    if (!wrong && wrong.error().code == ErrorCode::kNotFound) {
      ++survey_.changed_meanwhile;
      continue;
    }
    if (!wrong && wrong.error().code != ErrorCode::kCorrupt) return fail(wrong.error());
    std::optional<std::string> what = wrong ? *wrong : wrong.error().message;
    if (!what) continue;
    accuse(shard.row.manifest, std::move(*what),
           words::of_listing("shard " + shard.row.prefix.text()));
  }
  return {};
}

void Walk::judge_documents() {
  const StoredCell& view = survey_.view;
  for (const auto& [key, what] : view.damaged) accuse(key, what, words::of_document(key));
  if (!view.cell && !view.damaged.contains(std::string(keys::kCell))) {
    accuse(std::string(keys::kCell), "it is missing", words::of_document(keys::kCell));
  }
  const bool has_data = std::any_of(items_.begin(), items_.end(), [](const auto& entry) {
    const ObjectKind kind = entry.second.kind();
    return kind == ObjectKind::kTable || kind == ObjectKind::kLogObject;
  });
  // A cell that has just been created has no topology for a moment.
  if (!view.topology && has_data && !view.damaged.contains(std::string(keys::kTopology))) {
    accuse(std::string(keys::kTopology), "it is missing", words::of_document(keys::kTopology));
  }
  for (const auto& [key, item] : items_) {
    if (!item.parsed || item.parsed->kind != Kind::kMember || !item.checked.damage) continue;
    accuse(key, *item.checked.damage, words::of_document(key));
  }
  for (const ShardView& shard : view.shards) judge_shard(shard);
}

void Walk::judge_shard(const ShardView& shard) {
  const TopologyShard& row = shard.row;
  const std::string name = "shard " + row.prefix.text();
  if (!shard.manifest) {
    accuse(row.manifest, shard.damage.value_or("it is missing"), words::of_manifest(name));
    return;
  }
  for (const IncarnationId& incarnation : shard.manifest->log_incarnations()) {
    if (std::binary_search(row.logs.begin(), row.logs.end(), incarnation)) continue;
    accuse(std::string(keys::kTopology),
           "its row of " + name + " does not list the log of " + incarnation.text() +
               ", which the manifest needs",
           "objects of that log may be deleted too early; report this as a defect of morula");
  }
  const std::string owner = keys::member(row.owner.name);
  if (!shard.owner && !items_.contains(owner)) {
    accuse(owner, "it is missing, and its incarnation owns " + name,
           "no instance can tell whether the owner lives: if it is gone, nobody takes " + name +
               " over; restore the document from a copy");
  }
}

void Walk::accuse(std::string key, std::string what, std::string meaning) {
  survey_.damages.push_back({std::move(key), std::move(what), std::move(meaning)});
}

bool Walk::is_live(const IncarnationId& incarnation) const {
  const auto found = members_.find(incarnation.name);
  return found != members_.end() && found->second.incarnation == incarnation &&
         found->second.state == MemberState::kLive;
}

Unneeded Walk::why_unneeded(const Item& item, const Needs& needs) const {
  const auto is = [](std::string why, bool is_waste) {
    return Unneeded{std::move(why), is_waste, {}, {}};
  };
  switch (item.kind()) {
    case ObjectKind::kProbe:
      return is("left by a start-up probe that was interrupted", true);
    case ObjectKind::kForeign:
      return is("not morula's: never touched", false);
    case ObjectKind::kDocument:
      return is("documents", false);
    case ObjectKind::kManifest: {
      const auto& topology = survey_.view.topology;
      const bool replaced = topology && item.parsed->base_topology < topology->version;
      return replaced ? is("manifests that were replaced", true)
                      : is("manifests that may be about to be published", false);
    }
    case ObjectKind::kTable:
      return is_live(item.parsed->incarnation)
                 ? is("tables of live instances: about to be named, or merged into others", false)
                 : is("tables that no manifest names", true);
    case ObjectKind::kFence:
      return is("fences of logs: kept, so that a writer that wakes up stays out", false);
    case ObjectKind::kLogObject:
      break;
  }
  if (is_live(item.parsed->incarnation)) {
    return is("log objects of live instances that the next trim deletes", false);
  }
  if (needs.is_beyond_a_fence(item.parsed->incarnation, item.parsed->seq)) {
    return is("log objects beyond a fence: never acknowledged", true);
  }
  return is("logs of instances that are over: everything in them is in tables", true);
}

void Walk::judge_unneeded(const Needs& before, const Needs& after) {
  std::map<std::string, Unneeded> by_why;
  for (const auto& [key, item] : items_) {
    if (item.checked.absent) continue;
    if (item.parsed && after.names(key, *item.parsed)) continue;
    if (item.checked.damage) accuse(key, *item.checked.damage, words::of_unneeded());
    if (item.parsed && before.names(key, *item.parsed)) {
      ++survey_.changed_meanwhile;
      continue;
    }
    Unneeded reason = why_unneeded(item, after);
    Unneeded& group = by_why.try_emplace(reason.why, reason).first->second;
    if (group.example.empty()) group.example = key;
    group.amount.add(item.info);
  }
  for (auto& [why, group] : by_why) survey_.unneeded.push_back(std::move(group));
  std::stable_sort(survey_.unneeded.begin(), survey_.unneeded.end(),
                   [](const Unneeded& a, const Unneeded& b) {
                     if (a.is_waste != b.is_waste) return a.is_waste;
                     return a.amount.bytes > b.amount.bytes;
                   });
}

}  // namespace

Result<Survey> survey_bucket(const Env& env, const SurveyConfig& config) {
  return Walk(env, config).run();
}

}  // namespace morula
