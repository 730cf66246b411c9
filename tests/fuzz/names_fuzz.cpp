// Short texts that clients and keys bring: offsets, ids, targets, times.
#include "core/api/target.hpp"
#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/store/keys.hpp"
#include "core/stream/content_type.hpp"
#include "core/stream/expiry.hpp"
#include "core/stream/offset.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace morula {
namespace {

template <class T>
void try_id(std::string_view text) {
  const auto id = T::parse(text);
  if (id) fuzz::expect(id->text() == text, "an id has one form");
}

void try_target(std::string_view text) {
  const auto target = RequestTarget::parse(text);
  if (!target) return;
  (void)target->parameter("offset");
  if (!target->raw_path().starts_with(kStreamPrefix)) return;
  const auto path = stream_path(target->raw_path(), 1024);
  if (!path) return;
  const auto again = stream_path(std::string(kStreamPrefix) + percent_encode(*path), 1024);
  fuzz::expect(again && *again == *path, "a path escaped is the same path");
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  const std::string_view text = fuzz::text_of(data, size);
  const auto offset = parse_offset(text);
  if (offset) {
    const auto again = parse_offset(offset_text(*offset));
    fuzz::expect(again && *again == *offset, "an offset written is the same offset");
  }
  try_id<Ulid>(text);
  try_id<IncarnationId>(text);
  try_id<StreamId>(text);
  try_id<Prefix>(text);
  (void)keys::parse(text);
  (void)Expiry::parse_ttl(text);
  (void)Expiry::parse_at(text);
  (void)media_type(text, 256);
  try_target(text);
  return 0;
}
