// The directory store keeps every store's contract.
#include "tests/prod/directory_fixture.hpp"
#include "tests/store/store_contract.hpp"

namespace morula {
namespace {

class DirectoryBench final : public StoreBench {
 public:
  explicit DirectoryBench(RedoUse use) : use_(use) {}

  void run(const Body& body) override {
    DirectoryFiles::Options options;
    options.redo = use_;
    DirectoryStore store(loop_, open_files(directory_.path(), options));
    loop_.run_fiber("test", [&] { body(store, loop_.domain()); });
  }

 private:
  const RedoUse use_;
  TemporaryDirectory directory_;
  Loop loop_;
};

// RedoUse::kAuto: with a small redo log, see open_files.
std::unique_ptr<StoreBench> make_directory_bench() {
  return std::make_unique<DirectoryBench>(RedoUse::kAuto);
}
std::unique_ptr<StoreBench> make_directory_bench_without_redo() {
  return std::make_unique<DirectoryBench>(RedoUse::kOff);
}

INSTANTIATE_TEST_SUITE_P(Directory, StoreContract, testing::Values(&make_directory_bench));
INSTANTIATE_TEST_SUITE_P(DirectoryWithoutRedo, StoreContract,
                         testing::Values(&make_directory_bench_without_redo));

}  // namespace
}  // namespace morula
