// When a fault has met a step.
#include "sim/faults/fault_steps.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/rt/clock.hpp"

namespace morula::sim {
namespace {

using Pairs = std::map<std::string, uint64_t>;

class FaultStepsTest : public testing::Test {
 protected:
  FaultStepsTest() : steps_(world_) {
    ProcessOptions options;
    options.name = "a";
    process_ = &world_.add(options);
  }
  void take(Step step) {
    process_->spawn("step", [step](const Env& env) {
      StepEvent event;
      event.step = step;
      env.trace.step(event);
    });
    world_.run_for(Duration(0));
  }
  void befall(Fault fault, Purpose purpose, StoreCall call = StoreCall::kGet) {
    StoreRequest request;
    request.purpose = purpose;
    request.call = call;
    request.process = process_->id();
    steps_.befalls(fault, request);
  }

  World world_{1};
  FaultSteps steps_;
  Process* process_ = nullptr;
};

TEST_F(FaultStepsTest, AProcessThatIsStruckHasJustTakenItsSteps) {
  take(Step::kSeal);
  world_.run_for(kShortly);
  take(Step::kAdopt);
  steps_.strikes(Fault::crash, process_->id());
  EXPECT_EQ(steps_.pairs(), (Pairs{{"crash/Seal", 1}, {"crash/Adopt", 1}}));
}

TEST_F(FaultStepsTest, AStepThatIsLongPastIsMetByNothing) {
  take(Step::kSeal);
  world_.run_for(kShortly + Duration(1));
  steps_.strikes(Fault::pause_long, process_->id());
  EXPECT_EQ(steps_.pairs(), Pairs());
}

TEST_F(FaultStepsTest, AnotherRunIsNotStruckForTheStepsOfTheLast) {
  take(Step::kSeal);
  befall(Fault::store_late, Purpose::kOwnership);
  process_->kill();
  process_->start();
  steps_.strikes(Fault::crash, process_->id());
  take(Step::kPublish);
  EXPECT_EQ(steps_.pairs(), Pairs());
}

TEST_F(FaultStepsTest, ARequestIsOnItsWayToTheNextStepThatComesOfItsPurpose) {
  take(Step::kSeal);
  befall(Fault::store_late, Purpose::kOwnership);
  take(Step::kRenewLease);
  take(Step::kAdopt);
  take(Step::kPublish);
  EXPECT_EQ(steps_.pairs(), (Pairs{{"store_late/Adopt", 1}}));
}

TEST_F(FaultStepsTest, APutOfTheLogIsThatOfPutLog) {
  befall(Fault::store_answer_lost, Purpose::kLog, StoreCall::kPut);
  take(Step::kAcknowledge);
  EXPECT_EQ(steps_.pairs(),
            (Pairs{{"store_answer_lost/PutLog", 1}, {"store_answer_lost/Acknowledge", 1}}));
}

TEST(FaultSteps, WhatIsRequiredCanBe) {
  for (const Fault fault : kPairedFaults) {
    const bool of_request =
        std::string(kFaultNames[static_cast<size_t>(fault)]).starts_with("store");
    for (size_t i = 0; i < kStepCount; ++i) {
      const auto step = static_cast<Step>(i);
      if (!of_request || !is_required(fault, step)) continue;
      EXPECT_TRUE(purpose_of(step) || step == Step::kPutLog) << pair_name(fault, step);
    }
  }
}

}  // namespace
}  // namespace morula::sim
