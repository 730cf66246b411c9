#include "tests/store/store_contract.hpp"

#include "sim/world/test_world.hpp"

namespace morula {
namespace {

template <bool kEtagIsContent, size_t kPageKeys>
class SimBench final : public StoreBench {
 public:
  SimBench() {
    sim::StoreManners manners;
    manners.etag_is_content = kEtagIsContent;
    manners.page_keys_max = kPageKeys;
    world_.store().set_manners(manners);
  }

  void run(const Body& body) override {
    world_.run([&](const Env& env) { body(env.store, env.domain); });
  }

 private:
  sim::TestWorld world_;
};

template <bool kEtagIsContent, size_t kPageKeys>
std::unique_ptr<StoreBench> make_sim_bench() {
  return std::make_unique<SimBench<kEtagIsContent, kPageKeys>>();
}

INSTANTIATE_TEST_SUITE_P(Simulated, StoreContract,
                         testing::Values(&make_sim_bench<false, 1000>,
                                         &make_sim_bench<true, 1000>));

}  // namespace
}  // namespace morula
