// What a redo log is made of: records that begin on 4 KiB and prove by a checksum that they are
// whole. The bytes are told in REDO.md, what the records are for in redo_log.hpp.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"

namespace morula {

/// Records begin at multiples of it, so that those behind a hole are found.
inline constexpr size_t kRedoBlock = 4096;  // bytes

/// Which file had a name. Never the same for two files of a store: its writer sets the time.
struct FileIdentity {
  uint64_t inode = 0;
  int64_t modified = 0;  // ns
  uint64_t size = 0;     // bytes

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identity_of(const struct stat& info);

/// A file that was given the name `path`, with its content.
struct RedoObject {
  std::string path;
  FileIdentity file;
  int64_t named = 0;  // when it got the name, ns: by the clock, or its ctime
  std::string_view body;
};

/// Records of this file count no longer.
struct RedoVoid {
  std::string path;
  FileIdentity file;
  bool removed = false;  // by removal of the object; otherwise since its versions live in `path`@
};

/// The first record of a segment. Those of another generation in it are of its earlier uses.
struct RedoSegment {
  uint64_t bytes = 0;
};

/// Which log a record is of, and which use of its segment.
struct RedoFrame {
  uint64_t log = 0;
  uint64_t generation = 0;

  friend bool operator==(const RedoFrame&, const RedoFrame&) = default;
};

/// A record's own bytes: a head, and a body that is too large to be copied twice.
struct RedoContent {
  std::string head;
  std::string_view body = {};
};
RedoContent redo_content(const RedoObject& object);
RedoContent redo_content(std::span<const RedoVoid> voids);
RedoContent redo_content(const RedoSegment& segment);

/// What the record takes in a log, a multiple of kRedoBlock.
size_t redo_bytes(const RedoContent& content);
/// Writes all of these bytes.
void write_redo(char* out, const RedoFrame& frame, const RedoContent& content);

struct ParsedRedo {
  RedoFrame frame;
  size_t bytes = 0;  // as redo_bytes
  std::variant<RedoObject, std::vector<RedoVoid>, RedoSegment> what;
};
/// The record that begins at the first byte; nullopt when there is no whole one. A body is a view
/// into `from`.
std::optional<ParsedRedo> parse_redo(std::string_view from);

}  // namespace morula
