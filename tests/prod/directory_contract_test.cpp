// The directory store keeps every store's contract.
#include "tests/prod/directory_fixture.hpp"
#include "tests/store/store_contract.hpp"

namespace morula {
namespace {

class DirectoryBench final : public StoreBench {
 public:
  void run(const Body& body) override {
    DirectoryStore store(loop_, open_files(directory_.path()));
    loop_.run_fiber("test", [&] { body(store, loop_.domain()); });
  }

 private:
  TemporaryDirectory directory_;
  Loop loop_;
};

std::unique_ptr<StoreBench> make_directory_bench() {
  return std::make_unique<DirectoryBench>();
}

INSTANTIATE_TEST_SUITE_P(Directory, StoreContract, testing::Values(&make_directory_bench));

}  // namespace
}  // namespace morula
