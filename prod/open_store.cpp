#include "prod/open_store.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "prod/directory/directory_store.hpp"
#include "prod/s3/open_s3_store.hpp"

namespace morula {

StoreDefaults defaults_of(std::string_view location) {
  if (is_s3_location(location)) return {.puts_per_second = 10, .flush_objects = 500};
  return {};
}

bool is_s3_location(std::string_view location) {
  return location.starts_with("s3://");
}

Result<std::string> parse_store_directory(std::string_view location) {
  constexpr std::string_view kScheme = "file:";
  if (location.starts_with(kScheme) && location.size() > kScheme.size()) {
    std::string_view directory = location.substr(kScheme.size());
    if (directory.starts_with("//")) directory.remove_prefix(2);  // file:///srv/cell
    if (!directory.empty()) return std::string(directory);
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("--store \"{}\": write file:DIR, a directory on a local disk, such as "
                          "file:./data, or s3://BUCKET/PREFIX",
                          location));
}

Result<OpenedStore> open_store(Loop& loop, Trace& trace, const StoreOptions& options,
                               StoreAccess access) {
  if (is_s3_location(options.location)) {
    auto store =
        open_s3_store(loop, trace, options.location, options.s3, AwsSettings::of_process(), access);
    MORULA_TRY(store);
    return OpenedStore{std::move(*store), options.location};
  }
  const auto directory = parse_store_directory(options.location);
  MORULA_TRY(directory);
  DirectoryFiles::Options file_options;
  file_options.read_only = access == StoreAccess::kInspect;
  file_options.foreign_name = [&trace](std::string_view path, std::string_view why) {
    trace.log(Severity::kWarning, "foreign_file_ignored", {{"path", path}, {"why", why}});
  };
  file_options.trouble = [&trace](std::string_view path, std::string_view why) {
    trace.log(Severity::kWarning, "store_directory", {{"path", path}, {"why", why}});
  };
  auto files = DirectoryFiles::open(*directory, std::move(file_options));
  MORULA_TRY(files);
  std::error_code ignored;
  return OpenedStore{std::make_unique<DirectoryStore>(loop, std::move(*files)),
                     "file:" + std::filesystem::absolute(*directory, ignored).string()};
}

}  // namespace morula
