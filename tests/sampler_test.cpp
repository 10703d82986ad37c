// The sampler with a stopwatch that shows made-up times. Catches a loop that stops for the wrong reason or
// never, samples lost or hidden, and a graph asked for where it should not be.
#include "harness/measure/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

using testing::HasSubstr;

class FakeStopwatch {
 public:
  /// `time_of` gives the time of the i-th cold call, warm-ups included.
  explicit FakeStopwatch(std::function<double(int)> time_of) : time_of_(std::move(time_of)) {}

  TimedCalls calls() {
    return {[this] { return cold(); }, [this](int count) { return back_to_back(count); },
            [this](int) { return graph(); }};
  }
  Lap cold() {
    const int lap = laps++;
    return {time_of_(lap), clock_of(laps)};
  }
  double back_to_back(int count) {
    back_to_back_count = count;
    return 77.0;
  }
  std::optional<double> graph() {
    ++graphs;
    if (!graph_error.empty()) throw Error("{}", graph_error);
    return graph_time;
  }

  int laps = 0;
  int graphs = 0;
  int back_to_back_count = 0;
  std::optional<double> graph_time = 55.0;
  std::string graph_error;
  std::function<double(int)> clock_of = [](int) { return 0.0; };

 private:
  std::function<double(int)> time_of_;
};

FakeStopwatch steady(double ns) {
  return FakeStopwatch([ns](int) { return ns; });
}

// Two humps: the median's interval never gets narrow.
FakeStopwatch restless() {
  return FakeStopwatch([](int i) { return i % 2 == 0 ? 100'000.0 : 200'000.0; });
}

Timing sample(FakeStopwatch& stopwatch, const SamplingLimits& limits = {}, double nominal_mhz = 0) {
  return take_samples(stopwatch.calls(), limits, nominal_mhz);
}

// For what must not end by the clock, however slow the machine.
constexpr double for_ever = 3600;

TEST(TakeSamples, StopsForConfidenceAtTheFewestSamplesWhenTimesAreEqual) {
  FakeStopwatch stopwatch = steady(50'000);
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever});
  EXPECT_EQ(timing.stop_reason, "confidence");
  EXPECT_EQ(timing.samples.size(), 30U);
  EXPECT_EQ(stopwatch.laps, 10 + 30);  // two windows of warm-up, none of which is kept
}

TEST(TakeSamples, StopsForConfidenceOnlyWhenTheIntervalIsNarrowEnough) {
  // Samples that grow by 1e-4 each: the interval of thirty is 11 steps wide, 0.11% of the median.
  const auto slope = [](int i) { return 1e6 * (1 + 1e-4 * i); };
  FakeStopwatch wide(slope);
  EXPECT_EQ(
      sample(wide, {.max_samples = 30, .max_seconds = for_ever, .target_width = 0.002}).stop_reason,
      "confidence");
  FakeStopwatch narrow(slope);
  EXPECT_EQ(sample(narrow, {.max_samples = 30, .max_seconds = for_ever, .target_width = 0.001})
                .stop_reason,
            "max_samples");
}

TEST(TakeSamples, StopsAtExactlyTheMostSamplesWhenTimesNeverSettle) {
  FakeStopwatch stopwatch = restless();
  const Timing timing = sample(stopwatch, {.max_samples = 137, .max_seconds = for_ever});
  EXPECT_EQ(timing.stop_reason, "max_samples");
  EXPECT_EQ(timing.samples.size(), 137U);
}

TEST(TakeSamples, StopsWhenTheTimeIsUp) {
  FakeStopwatch stopwatch([](int i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return i % 2 == 0 ? 100'000.0 : 200'000.0;
  });
  const Timing timing =
      sample(stopwatch, {.max_samples = 1'000'000, .max_seconds = 0.05, .target_width = 1e-6});
  EXPECT_EQ(timing.stop_reason, "max_seconds");
  EXPECT_GE(timing.samples.size(), 1U);
  EXPECT_LE(timing.samples.size(), 51U);  // a sleep may last longer, never shorter
}

// The interval of a single sample has no width, and says nothing of where the median is.
TEST(TakeSamples, NeverClaimsConfidenceFromTooFewSamplesForAnInterval) {
  for (const std::int64_t few : {1, 5}) {
    FakeStopwatch stopwatch = steady(50'000);
    const Timing timing =
        sample(stopwatch, {.min_samples = few, .max_samples = few, .max_seconds = for_ever});
    EXPECT_EQ(timing.stop_reason, "max_samples") << few;
  }
}

TEST(TakeSamples, KeepsEverySampleInOrder) {
  FakeStopwatch stopwatch([](int i) { return i < 10 ? 1e6 : 1e6 + i; });
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever});
  for (std::size_t i = 0; i < timing.samples.size(); ++i) {
    EXPECT_EQ(timing.samples[i].ns, 1e6 + 10 + static_cast<double>(i));
  }
}

TEST(TakeSamples, GivesUpWarmingUpAfterAHundredCalls) {
  FakeStopwatch stopwatch([](int i) { return i < 100 ? 1000.0 * (1 + i) : 1e6; });
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever});
  EXPECT_EQ(stopwatch.laps, 100 + static_cast<int>(timing.samples.size()));
}

TEST(TakeSamples, MarksAsThrottledWhatRanUnder90PercentOfTheNominalClock) {
  FakeStopwatch stopwatch = steady(50'000);
  stopwatch.clock_of = [](int lap) { return lap % 3 == 0 ? 1799.0 : lap % 3 == 1 ? 1801.0 : 0.0; };
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever}, 2000);
  ASSERT_EQ(timing.samples.size(), 30U);
  int throttled = 0;
  for (const Sample& s : timing.samples) {
    EXPECT_EQ(s.throttled, s.sm_clock_mhz == 1799.0) << s.sm_clock_mhz;
    throttled += s.throttled;
  }
  EXPECT_EQ(throttled, 10);
}

TEST(TakeSamples, ThrottlesNothingWhereNoClockIsKnown) {
  FakeStopwatch stopwatch = steady(50'000);
  for (const Sample& s : sample(stopwatch, {.max_seconds = for_ever}, 0).samples) {
    EXPECT_FALSE(s.throttled);
  }
}

TEST(TakeSamples, AsksForAGraphOnlyOfCallsUnderTenMicroseconds) {
  FakeStopwatch brief = steady(9'999);
  EXPECT_EQ(sample(brief, {.max_seconds = for_ever}).graph_ns, 55.0);
  EXPECT_EQ(brief.graphs, 1);
  FakeStopwatch longer = steady(10'000);
  EXPECT_EQ(sample(longer, {.max_seconds = for_ever}).graph_ns, std::nullopt);
  EXPECT_EQ(longer.graphs, 0);
}

TEST(TakeSamples, TurnsAnErrorOfTheGraphIntoANoteAndKeepsTheTimes) {
  FakeStopwatch stopwatch = steady(5'000);
  stopwatch.graph_error = "capture was refused";
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever});
  EXPECT_EQ(timing.graph_ns, std::nullopt);
  EXPECT_THAT(timing.graph_note, HasSubstr("capture was refused"));
  EXPECT_EQ(timing.samples.size(), 30U);
  EXPECT_EQ(timing.back_to_back_ns, 77.0);
}

TEST(TakeSamples, MakesNoNoteWhereThereAreNoGraphs) {
  FakeStopwatch stopwatch = steady(5'000);
  stopwatch.graph_time.reset();
  const Timing timing = sample(stopwatch, {.max_seconds = for_ever});
  EXPECT_EQ(timing.graph_ns, std::nullopt);
  EXPECT_EQ(timing.graph_note, "");
}

TEST(TakeSamples, FillsTwentyMillisecondsBackToBackWithOneToFiftyCalls) {
  for (const auto& [ns, count] : {std::pair{1e6, 20}, {1e9, 1}, {1e5, 50}, {100.0, 50}}) {
    FakeStopwatch stopwatch = steady(ns);
    EXPECT_EQ(sample(stopwatch, {.max_seconds = for_ever}).back_to_back_ns, 77.0);
    EXPECT_EQ(stopwatch.back_to_back_count, count) << ns;
  }
}

TEST(TakeSamples, TimesNoCallsInARowWhereThereAreNone) {
  FakeStopwatch stopwatch = steady(5'000);
  TimedCalls calls = stopwatch.calls();
  calls.back_to_back = {};
  calls.graph = {};
  const Timing timing = take_samples(calls, {.max_seconds = for_ever}, 0);
  EXPECT_EQ(timing.samples.size(), 30U);
  EXPECT_EQ(timing.back_to_back_ns, std::nullopt);
  EXPECT_EQ(timing.graph_ns, std::nullopt);
  EXPECT_EQ(timing.graph_note, "");
}

TEST(TakeSamples, PassesOnWhatACallThrows) {
  FakeStopwatch stopwatch = steady(5'000);
  TimedCalls calls = stopwatch.calls();
  calls.cold = []() -> Lap { throw Error("the launch was refused"); };
  EXPECT_THROW((void)take_samples(calls, {}, 0), Error);
}

TEST(Summarise, FillsTheColumnsFromTheSamples) {
  Timing timing;
  // In the order taken; the clock of the third is unknown. numpy.quantile gives 17.5, 20, 22.5.
  timing.samples = {{30, 1900, false}, {10, 1800, false}, {20, 0, false},   {25, 1700, true},
                    {15, 1980, false}, {20, 1990, false}, {20, 1990, false}};
  timing.stop_reason = "max_samples";
  timing.back_to_back_ns = 18;
  timing.graph_ns = 16;
  Record record;
  record.useful_bytes = 500;
  summarise(timing, record);
  EXPECT_EQ(record.samples, 7);
  EXPECT_EQ(record.stop_reason, "max_samples");
  EXPECT_EQ(record.median_ns, 20);
  EXPECT_EQ(record.q1_ns, 17.5);
  EXPECT_EQ(record.q3_ns, 22.5);
  EXPECT_EQ(record.min_ns, 10);
  // python3 -c "import numpy as np; x=[30,10,20,25,15,20,20]; print(np.std(x,ddof=1)/np.mean(x))"
  EXPECT_DOUBLE_EQ(record.cv.value(), 0.3227486121839514);
  EXPECT_EQ(record.ci_low_ns, 10);  // of seven samples, ranks 1 and 7
  EXPECT_EQ(record.ci_high_ns, 30);
  EXPECT_EQ(record.back_to_back_ns, 18);
  EXPECT_EQ(record.graph_ns, 16);
  EXPECT_EQ(record.throughput_gbps, 25);
  EXPECT_EQ(record.sm_clock_mhz, 1940);
}

TEST(Summarise, LeavesAbsentWhatWasNotMeasured) {
  Timing timing;
  timing.samples = {{20, 0, false}, {20, 0, false}};
  Record record;
  summarise(timing, record);
  EXPECT_EQ(record.back_to_back_ns, std::nullopt);
  EXPECT_EQ(record.graph_ns, std::nullopt);
  EXPECT_EQ(record.sm_clock_mhz, std::nullopt);
}

}  // namespace
}  // namespace fusebench
