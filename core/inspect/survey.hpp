// A walk over everything in a bucket: is each object whole, is what is named there, and what lies
// there that nobody needs?
//
// Instances may serve the bucket meanwhile. The documents are read before and after the objects;
// what looks missing is asked for once more, and accused only when a document that was read after
// that still names it.
//
// Of rows it is checked whether the index lists just the streams that are there.
// Not checked: whether rows make sense together otherwise (offsets of a stream that follow each
// other); a read of the stream finds that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/inspect/stored_cell.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

/// What the summary counts apart.
enum class ObjectKind : uint8_t {
  kDocument,  // cell.json, topology.json, members
  kManifest,
  kLogObject,
  kFence,
  kTable,
  kProbe,    // of a start-up probe that was interrupted
  kForeign,  // no part of a cell
};
std::string_view to_string(ObjectKind kind);

struct Amount {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  std::optional<WallTime> oldest = {};  // when the oldest was written, where the store tells

  void add(const ObjectInfo& object) {
    ++objects;
    bytes += object.size;
    if (object.modified && (!oldest || *object.modified < *oldest)) oldest = object.modified;
  }
};

/// Something that is wrong.
struct Damage {
  std::string key;
  std::string what;     // is wrong with it
  std::string meaning;  // for the data, and what to do
};

/// Objects that no document names, alike in why.
struct Unneeded {
  std::string why;       // they lie there
  bool is_waste = true;  // false: they are kept on purpose, or are about to be used or deleted
  Amount amount;
  std::string example;  // the first key
};

struct Survey {
  StoredCell view;
  std::map<ObjectKind, Amount> objects;
  std::vector<Damage> damages;     // by key
  std::vector<Unneeded> unneeded;  // waste first, the largest first
  uint64_t changed_meanwhile = 0;  // objects that came or went during the walk

  bool sound() const { return damages.empty(); }
};

struct SurveyProgress {
  uint64_t objects_done = 0;
  uint64_t objects = 0;
  uint64_t bytes_done = 0;
  uint64_t bytes = 0;
};

struct SurveyConfig {
  RetryConfig retry;
  size_t reads_at_once = 8;                             // whole objects are in memory meanwhile
  std::function<void(const SurveyProgress&)> progress;  // called after each object
};

/// kNotFound: there is no cell. Other errors: the store's. `env.store` is an InspectionStore, or
/// the walk may wait for a store for ever. Suspends.
Result<Survey> survey_bucket(const Env& env, const SurveyConfig& config);

}  // namespace morula
