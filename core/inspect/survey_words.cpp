#include "core/inspect/survey_words.hpp"

#include "core/inspect/survey.hpp"
#include "core/store/keys.hpp"

namespace morula {

std::string_view to_string(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDocument:
      return "documents";
    case ObjectKind::kManifest:
      return "manifests";
    case ObjectKind::kLogObject:
      return "log objects";
    case ObjectKind::kFence:
      return "fences";
    case ObjectKind::kTable:
      return "tables";
    case ObjectKind::kProbe:
      return "probes";
    case ObjectKind::kForeign:
      return "foreign";
  }
  return "unknown";
}

namespace words {

std::string of_document(std::string_view key) {
  if (key == keys::kCell) {
    return "it holds the secret that says where streams lie: without it none can be found, and no "
           "instance starts; it never changes, so restore it from any copy of this cell";
  }
  if (key == keys::kTopology) {
    return "it says which shards there are and who owns them: without it nothing is served; stop "
           "all instances and restore the cell from one copy of the whole place";
  }
  return "instances can't tell whether this member lives, and stop looking after each other; stop "
         "that instance and restore the document from a copy";
}

std::string of_manifest(const std::string& shards) {
  return shards +
         " can't be opened: its manifest says which tables and logs hold its streams; "
         "restore it from a copy that is as new";
}

std::string of_table(const std::string& shards) {
  return "streams of " + shards +
         " whose rows lie here answer 500 `damaged`; others are served; "
         "tables never change, so restore it from any copy";
}

std::string of_log(const std::string& shards) {
  return "changes of " + shards +
         " that were acknowledged and are in no table yet: a new owner "
         "can't take over; log objects never change, so restore it from "
         "any copy. While the present owner runs, it still has them";
}

std::string of_shard(const std::string& shards) {
  return "streams of " + shards + " can't be read as a whole";
}

std::string of_listing(const std::string& shards) {
  return "listings of " + shards +
         " are wrong, and nothing else: every stream can still be read by its path; report this as "
         "a defect of morula";
}

std::string of_unneeded() {
  return "no document names it: no stream is affected, but the store has not kept what was written";
}

}  // namespace words

}  // namespace morula
