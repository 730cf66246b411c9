// Invariant 14: a listing says the truth of every path that it covers.
//
// A page covers the paths of its tenant that begin with the prefix and lie above `after`, up to its
// `next`. Of each it says one thing, that the stream is there (in which generation) or that it is
// not, as of some moment between the question and the answer: just what a HEAD says. So each page
// becomes one operation for each path in that path's history, where all that is known of its
// creations, deletions and its end speaks for or against it (stream_history.hpp). Here is only what
// concerns the page as a whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "invariants/history.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

/// What a client asks for. Paths are as they are in requests, with escapes.
struct ListQuestion {
  uint32_t client = 0;
  uint32_t number = 0;  // of the client's operations
  std::string server;
  std::string tenant;  // empty: the default one
  std::string prefix;  // decoded, as `after`
  std::string after;
  uint64_t limit = 0;
};

struct ListAnswer {
  struct Stream {
    std::string path;  // decoded
    uint64_t generation = 0;
  };
  std::vector<Stream> streams;
  std::optional<std::string> next;
};

/// A question that is under way, with its operations.
struct OpenListing {
  ListQuestion question;
  std::vector<OpRef> ops;
};

class Listings {
 public:
  explicit Listings(Violations& violations) : violations_(violations) {}

  /// The history's name for a path: "<tenant>:<path with escapes>".
  static std::string name_of(const ListQuestion& question, std::string_view path);
  /// Whether an answer to the question can say something of the path of this name.
  static bool asks_for(const ListQuestion& question, std::string_view name);
  /// What `answer` says of it; refused: nothing.
  static Response says(const ListQuestion& question, const ListAnswer& answer,
                       std::string_view name);
  /// The page as a whole: strictly ascending, within what was asked for, not longer.
  void check(const ListQuestion& question, const ListAnswer& answer, Duration now);
  /// Nobody ever asked about a path that is listed.
  void unheard_of(const ListQuestion& question, std::string_view name, Duration now);

 private:
  void report(const ListQuestion& question, Duration now, std::string what);

  Violations& violations_;
};

}  // namespace morula::invariants
