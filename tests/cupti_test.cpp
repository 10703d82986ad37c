// The recorder against a CUPTI of the tests' own (stand_in_cupti.cpp). Catches a record read at the wrong place, one
// that goes to another call, losses that are not told, and a profiler beside ours that is not heeded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/error.hpp"
#include "harness/trace/device_recorder.hpp"

namespace fusebench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A process loads the library once, so the missing one comes first.
TEST(Cupti, WhereItIsMissingTheReasonNamesWhatWasLookedFor) {
  setenv("FUSEBENCH_CUPTI", "/nonexistent/libcupti.so", 1);
  const std::string expected = FUSEBENCH_STAND_IN_CUPTI[0] == '\0'
                                   ? "this build has no CUPTI"
                                   : "FUSEBENCH_CUPTI=/nonexistent/libcupti.so was not found";
  EXPECT_THAT([] { (void)open_cupti(); }, ThrowsMessage<Unavailable>(HasSubstr(expected)));
}

class StandInCupti : public testing::Test {
 protected:
  void SetUp() override {
    if (FUSEBENCH_STAND_IN_CUPTI[0] == '\0') GTEST_SKIP() << "this build has no CUPTI";
    setenv("FUSEBENCH_CUPTI", FUSEBENCH_STAND_IN_CUPTI, 1);
    unsetenv("STAND_IN_CUPTI");
  }
  void TearDown() override { unsetenv("STAND_IN_CUPTI"); }
};

TEST_F(StandInCupti, ReadsEachKindOfRecordAndGivesItToItsCall) {
  Timeline timeline;
  {
    const auto recorder = open_cupti();
    recorder->start();
    recorder->begin_call(42);
    recorder->end_call();
    const std::uint64_t before = recorder->now_ns();
    EXPECT_GT(recorder->now_ns(), before);
    recorder->finish(timeline);
  }
  ASSERT_EQ(timeline.work.size(), 3U);
  const DeviceWork& kernel = timeline.work[0];
  EXPECT_EQ(kernel.kind, WorkKind::kernel);
  EXPECT_EQ(kernel.name, "add(float*, int)");
  EXPECT_EQ(kernel.stream, 7U);
  EXPECT_EQ(kernel.when.start_ns, 200U);
  EXPECT_EQ(kernel.when.end_ns, 300U);
  EXPECT_EQ(kernel.blocks, 8);
  EXPECT_EQ(kernel.threads, 128);
  EXPECT_EQ(kernel.registers, 40);
  EXPECT_EQ(kernel.shared_bytes, 1016);
  EXPECT_EQ(kernel.call, 42U);
  EXPECT_EQ(timeline.work[1].name, "memcpy device to device");
  EXPECT_EQ(timeline.work[1].bytes, 4096U);
  EXPECT_EQ(timeline.work[1].call, std::nullopt);
  EXPECT_EQ(timeline.work[2].kind, WorkKind::memset);
  EXPECT_EQ(timeline.work[2].bytes, 64U);
  ASSERT_EQ(timeline.api.size(), 1U);
  EXPECT_EQ(timeline.api[0].name, "cuLaunchKernel");
  EXPECT_EQ(timeline.api[0].thread, 77);
  EXPECT_EQ(timeline.api[0].call, 42U);
  ASSERT_EQ(timeline.overheads.size(), 1U);
  EXPECT_EQ(timeline.overheads[0].name, "CUPTI flushes a buffer");
  EXPECT_EQ(timeline.overheads[0].thread, 77);
  EXPECT_EQ(timeline.dropped, 3U);
  EXPECT_EQ(timeline.timeless, 1U);
}

TEST_F(StandInCupti, StepsAsideForAnotherProfilerAndComesBackWhenItIsGone) {
  setenv("STAND_IN_CUPTI", "held", 1);
  EXPECT_THAT([] { (void)open_cupti(); },
              ThrowsMessage<Unavailable>(HasSubstr("another profiler holds CUPTI")));
  unsetenv("STAND_IN_CUPTI");
  EXPECT_NE(open_cupti(), nullptr);
}

TEST_F(StandInCupti, SaysWhatItRefuses) {
  setenv("STAND_IN_CUPTI", "refuses", 1);
  const auto recorder = open_cupti();
  EXPECT_THAT([&] { recorder->start(); },
              ThrowsMessage<Unavailable>(HasSubstr("cuptiActivityEnable: no privileges")));
}

}  // namespace
}  // namespace fusebench
