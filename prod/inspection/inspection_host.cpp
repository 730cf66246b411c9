#include "prod/inspection/inspection_host.hpp"

#include <signal.h>
#include <sys/random.h>

#include <algorithm>

#include "core/base/check.hpp"
#include "core/inspect/inspection_store.hpp"
#include "core/rt/network.hpp"
#include "prod/command_output.hpp"

namespace morula {
namespace {

constexpr Duration kGiveUpAfter = std::chrono::seconds(30);  // of a store that does not answer
constexpr size_t kComputeThreads = 1;

/// A command speaks to the store alone.
class NoNetwork final : public Network {
 public:
  std::string address() const override { return "http://nowhere:0"; }
  Result<HttpResponse> call(const std::string&, const HttpRequest&, Time) override {
    return fail(ErrorCode::kNotFound, "a command has no network");
  }
  void serve(Scope&, Handler) override {}
  void stop_serving() override {}
};

uint64_t drawn_seed() {
  uint64_t seed = 0;
  MORULA_CHECK(::getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

/// What the command's own output says better.
bool is_told_otherwise(std::string_view event) {
  return event == "table_damaged" || event == "stream_damaged" || event == "foreign_file_ignored";
}

}  // namespace

void InspectionTrace::log(Severity severity, std::string_view event,
                          std::initializer_list<LogField> fields) {
  if (severity < Severity::kWarning || is_told_otherwise(event)) return;
  std::string line(event);
  std::replace(line.begin(), line.end(), '_', ' ');
  for (const LogField& field : fields) line += ", " + std::string(field.name) + ": " + field.value;
  const std::lock_guard lock(mutex_);
  complain(line);
}

InspectionHost::InspectionHost() : compute_(loop_, kComputeThreads), random_(drawn_seed()) {}

Result<std::unique_ptr<InspectionHost>> InspectionHost::open(const StoreOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<InspectionHost> host(new InspectionHost());
  auto opened = open_store(host->loop_, host->trace_, options, StoreAccess::kInspect);
  MORULA_TRY(opened);
  host->opened_ = std::move(*opened);
  return host;
}

void InspectionHost::run(const std::function<void(const Env&)>& body) {
  NoNetwork network;
  InspectionStore store(*opened_.store, loop_, kGiveUpAfter);
  const Env env{loop_.domain(), loop_, network, store, random_, compute_, platform_, trace_};
  loop_.run_fiber("inspection", [&] { body(env); });
}

}  // namespace morula
