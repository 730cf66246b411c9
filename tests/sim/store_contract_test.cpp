// The simulated store keeps every store's contract.
#include "tests/store/store_contract.hpp"

#include "sim/world/test_world.hpp"

namespace morula {
namespace {

class SimulatedBench final : public StoreBench {
 public:
  explicit SimulatedBench(bool etag_is_content) {
    sim::StoreManners manners;
    manners.etag_is_content = etag_is_content;
    world_.store().set_manners(manners);
  }
  void run(const Body& body) override {
    world_.run([&](const Env& env) { body(env.store, env.domain); });
  }

 private:
  sim::TestWorld world_;
};

template <bool kEtagIsContent>
std::unique_ptr<StoreBench> make_simulated_bench() {
  return std::make_unique<SimulatedBench>(kEtagIsContent);
}

INSTANTIATE_TEST_SUITE_P(Simulated, StoreContract,
                         testing::Values(&make_simulated_bench<false>,
                                         &make_simulated_bench<true>));

}  // namespace
}  // namespace morula
