// The judge's clock against the worker's, with made-up times. Catches a doubt that a busy host could raise,
// and a lie that passes because one call in ten was slow.
#include "harness/session/host_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace fusebench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

constexpr double median = 1000.0;

// Each more one of `walls` in turn, the last again and again, and claims the median.
std::function<TwiceTimed()> liar(std::vector<double> walls, int& calls) {
  return [walls = std::move(walls), &calls]() -> TwiceTimed {
    const auto i = std::min<std::size_t>(static_cast<std::size_t>(calls++), walls.size() - 1);
    return {walls[i], median};
  };
}

TEST(ClocksDisagree, NotOnceACallIsWithinOneAndAHalfTimesTheMedianAndTheSlack) {
  int calls = 0;
  for (const double wall : {1000.0, 1500.0, 1700.0}) {
    EXPECT_EQ(clocks_disagree({{wall, median}}, liar({9e9}, calls), median, 200.0), std::nullopt);
    EXPECT_EQ(clocks_disagree({}, liar({wall}, calls), median, 200.0), std::nullopt);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_NE(clocks_disagree({{1701.0, median}}, liar({1701.0}, calls), median, 200.0),
            std::nullopt);
}

TEST(ClocksDisagree, NotBecauseAHostWasBusyEveryTimeButTheLast) {
  int calls = 0;
  EXPECT_EQ(
      clocks_disagree({{9e4, median}},
                      liar({9e4, 9e4, 9e4, 9e4, 9e4, 9e4, 9e4, 9e4, 1100.0}, calls), median, 0.0),
      std::nullopt);
  EXPECT_EQ(calls, 9);
}

TEST(ClocksDisagree, LooksNoLongerThanItMust) {
  int calls = 0;
  EXPECT_EQ(clocks_disagree({}, liar({9e9, 9e9, 1.0}, calls), median, 0.0), std::nullopt);
  EXPECT_EQ(calls, 3);
}

// Samples were taken while the host was fast; since then it takes three times as long, by either clock.
TEST(ClocksDisagree, NotBecauseTheHostBecameSlower) {
  EXPECT_EQ(clocks_disagree(
                {},
                [] {
                  return TwiceTimed{3100.0, 3000.0};
                },
                median, 200.0),
            std::nullopt);
}

TEST(ClocksDisagree, WithWhoeverTellsTheTruthInLessThanHalfOfTheCalls) {
  for (const int truths : {0, 1, 4, 5, 9}) {
    int calls = 0;
    const auto sometimes = [&]() -> TwiceTimed {
      return {10'000.0, calls++ < truths ? 10'000.0 : median};
    };
    EXPECT_EQ(clocks_disagree({}, sometimes, median, 200.0).has_value(), 2 * truths < 9) << truths;
  }
}

TEST(ClocksDisagree, NamesTheShortestByOurClockAndTheMedianByTheirs) {
  int calls = 0;
  EXPECT_THAT(
      clocks_disagree({{6000.0, median}}, liar({7000.0, 5000.0, 7000.0}, calls), median, 100.0),
      Optional(AllOf(HasSubstr("5000 ns by the judge's"), HasSubstr("1000 ns by its own"))));
}

}  // namespace
}  // namespace fusebench
