// The judge's clock against the worker's, with made-up times. Catches a doubt that a busy host could raise,
// and a lie that passes because one call in ten was slow.
#include "harness/session/host_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tests/seed.hpp"

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
    return {walls[i], 0.0, median};
  };
}

TEST(ClocksDisagree, NotOnceACallIsWithinOneAndAHalfTimesTheMedianAndTheSlack) {
  int calls = 0;
  for (const double wall : {1000.0, 1500.0, 1700.0}) {
    EXPECT_EQ(clocks_disagree({{wall, 0.0, median}}, liar({9e9}, calls), median, 200.0),
              std::nullopt);
    EXPECT_EQ(clocks_disagree({}, liar({wall}, calls), median, 200.0), std::nullopt);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_NE(clocks_disagree({{1701.0, 0.0, median}}, liar({1701.0}, calls), median, 200.0),
            std::nullopt);
}

TEST(ClocksDisagree, NotBecauseAHostWasBusyEveryTimeButTheLast) {
  int calls = 0;
  EXPECT_EQ(
      clocks_disagree({{9e4, 0.0, median}},
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
                  return TwiceTimed{3100.0, 0.0, 3000.0};
                },
                median, 200.0),
            std::nullopt);
}

TEST(ClocksDisagree, WithWhoeverTellsTheTruthInLessThanHalfOfTheCalls) {
  for (const int truths : {0, 1, 4, 5, 9}) {
    int calls = 0;
    const auto sometimes = [&]() -> TwiceTimed {
      return {10'000.0, 0.0, calls++ < truths ? 10'000.0 : median};
    };
    EXPECT_EQ(clocks_disagree({}, sometimes, median, 200.0).has_value(), 2 * truths < 9) << truths;
  }
}

// A call of 10,000 ns is claimed to take the median. Of five ways four stumble, for as long as the call takes.
TEST(ClocksDisagree, WhereMostWaysTookAsLongAsTheCallsBehindThem) {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<TwiceTimed> all(30, {10'500.0, 10'500.0, median});
    for (std::size_t five = 0; five < all.size(); five += 5)
      all[five + random() % 5].way_ns = 500.0;
    auto more = all.begin() + 20;
    EXPECT_THAT(clocks_disagree(
                    {all.begin(), more}, [&] { return *more++; }, median, 200.0),
                Optional(HasSubstr("a call takes 10000 ns")));
  }
}

TEST(ClocksDisagree, NotWhereEveryWayIsLongNorWhereWaysBecameTwiceAsLong) {
  for (const double at_first : {5500.0, 2750.0}) {
    std::vector<TwiceTimed> calls{{9e9, at_first, 9e9}};
    const auto next = [] { return TwiceTimed{5500.0 + 3000.0, 5500.0, 3000.0}; };
    EXPECT_EQ(clocks_disagree(calls, next, median, 200.0), std::nullopt) << at_first;
  }
}

// The median is that of a busy host; in the shortest call a process that claims a tenth looks as fast as that.
TEST(ClocksDisagree, WhereTheShortestCallTookNoLongerThanTheMedianAndTenTimesItsClaim) {
  int calls = 0;
  const std::vector<TwiceTimed> seen{{20'000.0, 0.0, 2000.0}, {1100.0, 0.0, 110.0}};
  EXPECT_THAT(clocks_disagree(seen, liar({20'000.0}, calls), median, 200.0),
              Optional(HasSubstr("a call takes 1100 ns")));
}

TEST(ClocksDisagree, NamesTheShortestByOurClockAndTheMedianByTheirs) {
  int calls = 0;
  EXPECT_THAT(
      clocks_disagree({{6000.0, 0.0, median}}, liar({7000.0, 5000.0, 7000.0}, calls), median,
                      100.0),
      Optional(AllOf(HasSubstr("5000 ns by the judge's"), HasSubstr("1000 ns by its own"))));
}

}  // namespace
}  // namespace fusebench
