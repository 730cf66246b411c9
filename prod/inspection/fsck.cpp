#include "prod/inspection/fsck.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/inspect/survey.hpp"
#include "core/rt/clock.hpp"
#include "prod/command_output.hpp"
#include "prod/directory/directory_leftovers.hpp"
#include "prod/inspection/fsck_report.hpp"
#include "prod/inspection/inspection_host.hpp"

namespace morula {
namespace {

constexpr Duration kRedrawAfter = std::chrono::milliseconds(100);

/// One line that is drawn over and over, on a terminal only.
class ProgressLine {
 public:
  void draw(const SurveyProgress& progress, Time now) {
    if (!is_terminal_ || (drawn_ && now < again_at_)) return;
    again_at_ = now + kRedrawAfter;
    drawn_ = true;
    const uint64_t percent = progress.bytes == 0 ? 100 : progress.bytes_done * 100 / progress.bytes;
    const std::string bar(percent / 4, '#');
    std::fprintf(stderr, "\r[%-25s] %3d %%  %s of %s objects  %s of %s \033[K", bar.c_str(),
                 static_cast<int>(percent), std::to_string(progress.objects_done).c_str(),
                 std::to_string(progress.objects).c_str(), bytes_text(progress.bytes_done).c_str(),
                 bytes_text(progress.bytes).c_str());
  }
  void clear() const {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  const bool is_terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool drawn_ = false;
  Time again_at_{};
};

/// What only the directory itself shows: unfinished files of writers that died.
void add_leftovers(const StoreOptions& store, Survey& survey) {
  const auto directory = parse_store_directory(store.location);
  if (!directory) return;
  auto leftovers = directory_leftovers(*directory);
  for (Unneeded& group : leftovers) survey.unneeded.push_back(std::move(group));
}

}  // namespace

std::vector<Option> option_table(FsckOptions& options) {
  std::vector<Option> table = store_option_table(options.store);
  table.push_back({"json", "Output", &options.json, "Print one JSON object instead of text"});
  return table;
}

int fsck(const FsckOptions& options) {
  auto host = InspectionHost::open(options.store);
  if (!host) {
    complain(host.error().message);
    return kCouldNotRead;
  }
  Result<Survey> survey = fail(ErrorCode::kUnavailable, "not begun");
  ProgressLine line;
  (*host)->run([&](const Env& env) {
    SurveyConfig config;
    config.progress = [&](const SurveyProgress& progress) { line.draw(progress, env.clock.now()); };
    survey = survey_bucket(env, config);
  });
  line.clear();
  if (!survey) {
    complain((*host)->location() + ": " + survey.error().message);
    return kCouldNotRead;
  }
  if (!is_s3_location(options.store.location)) add_leftovers(options.store, *survey);
  const std::string report = options.json
                                 ? json_report((*host)->location(), *survey)
                                 : text_report((*host)->location(), *survey, (*host)->wall());
  print(report);
  if (!finish_output()) return kCouldNotRead;
  return survey->sound() ? 0 : kFoundDamage;
}

}  // namespace morula
