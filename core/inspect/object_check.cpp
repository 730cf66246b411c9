#include "core/inspect/object_check.hpp"

#include <algorithm>

#include "core/cell/cell_document.hpp"
#include "core/fleet/member.hpp"
#include "core/log/log_object.hpp"
#include "core/lsm/manifest.hpp"
#include "core/lsm/table_format.hpp"
#include "core/shard/record.hpp"
#include "core/topology/topology.hpp"

namespace morula {

namespace {

using Kind = keys::Parsed::Kind;

constexpr int kReadsOfDamage = 16;  // that each show other bytes

template <class T>
Result<> as_check(const Result<T>& decoded) {
  if (!decoded) return fail(decoded.error());
  return {};
}

Result<> check_member(std::string_view bytes, const std::string& name) {
  const auto member = decode_member(bytes);
  MORULA_TRY(member);
  if (member->incarnation.name == name) return {};
  return fail(ErrorCode::kCorrupt, "it is the document of " + member->incarnation.name);
}

Result<> check_log_object(std::string_view bytes, const keys::Parsed& parsed, bool& is_fence) {
  const auto object = decode_log_object(bytes);
  MORULA_TRY(object);
  if (object->incarnation != parsed.incarnation || object->seq != parsed.seq) {
    return fail(ErrorCode::kCorrupt, "it is object " + std::to_string(object->seq.value) +
                                         " of the log of " + object->incarnation.text());
  }
  is_fence = object->is_fence;
  for (const LogRecord& record : object->records) {
    MORULA_TRY(as_check(decode_record(record.id, record.payload)));
  }
  return {};
}

Result<> check_whole_table(std::string_view bytes) {
  const auto footer = TableFooter::decode(
      bytes.substr(bytes.size() - std::min(bytes.size(), TableFooter::kBytes)), bytes.size());
  MORULA_TRY(footer);
  return check_table(bytes, footer->tree);
}

Result<> check_bytes(std::string_view bytes, const keys::Parsed& parsed, bool& is_fence) {
  switch (parsed.kind) {
    case Kind::kCellJson:
      return as_check(decode_cell(bytes));
    case Kind::kTopologyJson:
      return as_check(decode_topology(bytes));
    case Kind::kMember:
      return check_member(bytes, parsed.name);
    case Kind::kManifest:
      return as_check(decode_manifest(bytes));
    case Kind::kLogObject:
      return check_log_object(bytes, parsed, is_fence);
    case Kind::kTable:
      return check_whole_table(bytes);
  }
  return fail(ErrorCode::kCorrupt, "unknown kind");
}

}  // namespace

Result<CheckedObject> check_object(const Env& env, const std::string& key,
                                   const keys::Parsed& parsed, const RetryConfig& retry) {
  Blob last;
  for (int read = 1;; ++read) {
    CheckedObject checked;
    auto object = get_object(env, key, Purpose::kDataRead, retry);
    if (!object && object.error().code == ErrorCode::kCorrupt) {  // the store's own word
      checked.damage = object.error().message;
      return checked;
    }
    MORULA_TRY(object);
    checked.absent = !*object;
    if (checked.absent) return checked;
    const Blob& bytes = (*object)->body;
    checked.bytes = bytes->size();
    const auto whole = check_bytes(*bytes, parsed, checked.is_fence);
    if (whole) return checked;
    // One read may have been damaged on the way; a document may be another one by now.
    if ((last && *last == *bytes) || read == kReadsOfDamage) {
      checked.damage = whole.error().message;
      return checked;
    }
    last = bytes;
  }
}

}  // namespace morula
