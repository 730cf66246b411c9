// The S3 store keeps every store's contract on a real server: the one that the environment names,
// which tests/e2e/s3_contract_test starts.
#include <sys/random.h>

#include "core/base/ids.hpp"
#include "core/rt/random.hpp"
#include "prod/log_trace.hpp"
#include "prod/s3/open_s3_store.hpp"
#include "tests/store/store_contract.hpp"

namespace morula {
namespace {

class S3Bench final : public StoreBench {
 public:
  S3Bench() {
    uint64_t seed = 0;
    EXPECT_EQ(::getrandom(&seed, sizeof(seed), 0), ssize_t{sizeof(seed)});
    Random random(seed);
    const AwsSettings settings = AwsSettings::of_process();
    const std::string bucket = settings.variable("S3_BUCKET").value_or("test");
    const std::string location =
        "s3://" + bucket + "/contract/" + Ulid::draw(loop_.wall(), random).text();
    auto store = open_s3_store(loop_, trace_, location, {}, settings, StoreAccess::kServe);
    if (!store) throw std::runtime_error(store.error().message);
    store_ = std::move(*store);
  }

  void run(const Body& body) override {
    loop_.run_fiber("test", [&] { body(*store_, loop_.domain()); });
  }

 private:
  Loop loop_;
  LogTrace trace_{Severity::kWarning, LogFormat::kLogfmt};
  std::unique_ptr<Store> store_;
};

std::unique_ptr<StoreBench> make_s3_bench() {
  return std::make_unique<S3Bench>();
}

INSTANTIATE_TEST_SUITE_P(S3, StoreContract, testing::Values(&make_s3_bench));

}  // namespace
}  // namespace morula
