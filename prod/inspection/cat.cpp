#include "prod/inspection/cat.hpp"

#include <unistd.h>

#include "core/inspect/stored_stream.hpp"
#include "core/stream/offset.hpp"
#include "prod/command_output.hpp"
#include "prod/inspection/inspection_host.hpp"

namespace morula {
namespace {

constexpr auto kWhat = "What to read";

/// nullopt: from the start.
Result<std::optional<Offset>> parse_start(const std::string& text) {
  if (text == "-1") return std::nullopt;
  const auto offset = parse_offset(text);
  if (!offset)
    return fail(ErrorCode::kInvalid, "--offset \"" + text + "\": " + offset.error().message);
  return *offset;
}

/// The rest is for nobody, then.
void print_or_exit(std::string_view bytes) {
  if (print(bytes)) return;
  finish_output();
  ::_exit(kCouldNotRead);
}

}  // namespace

std::vector<Option> option_table(CatOptions& options) {
  std::vector<Option> table = store_option_table(options.store);
  table.push_back(
      {"tenant", kWhat, &options.tenant, "Whose stream it is, as Morula-Tenant says it"});
  table.push_back({"offset", kWhat, &options.offset,
                   "Begin at this offset, as Stream-Next-Offset gives it; -1: at the start"});
  return table;
}

int cat(const CatOptions& options) {
  const auto offset = parse_start(options.offset);
  if (!offset) {
    complain(offset.error().message);
    return kCouldNotRead;
  }
  auto host = InspectionHost::open(options.store);
  if (!host) {
    complain(host.error().message);
    return kCouldNotRead;
  }
  Result<StoredStreamEnd> end = fail(ErrorCode::kUnavailable, "not begun");
  (*host)->run([&](const Env& env) {
    end = read_stored_stream(env, {}, {options.tenant, options.path, *offset}, print_or_exit);
  });
  const bool printed = finish_output();
  if (!end) {
    complain((*host)->location() + ": " + end.error().message);
    return end.error().code == ErrorCode::kCorrupt ? kFoundDamage : kCouldNotRead;
  }
  if (!printed) return kCouldNotRead;
  if (end->how == StoredStreamEnd::How::kRead) return 0;
  complain(options.path + ": " + end->why);
  return kNothingToRead;
}

}  // namespace morula
