#include "prod/disk_cache/disk_cache.hpp"
#include "prod/options.hpp"

namespace morula {

Result<DiskCachePlace> DiskCachePlace::parse(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::kInvalid, "--disk-cache \"" + std::string(text) + "\": " + why +
                                         "; write DIR:SIZE, such as /var/cache/morula:4GiB");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("it has no size");
  if (colon == 0) return wrong("it has no directory");
  std::string size(text.substr(colon + 1));
  if (!size.empty() && std::string_view("KMG").find(size.back()) != std::string_view::npos) {
    size += "iB";
  }
  const auto bytes = parse_byte_count(size);
  if (!bytes) return wrong("the size is not " + bytes.error().message);
  if (*bytes < DiskBlocks::kBytesMin) {
    return wrong("it needs at least " + std::to_string(DiskBlocks::kBytesMin / kMiB) + "MiB");
  }
  return DiskCachePlace{std::string(text.substr(0, colon)), *bytes};
}

}  // namespace morula
