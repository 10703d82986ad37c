// The final between the best configurations. Catches a winner that one lucky round has made, drift between rounds
// that is taken for a difference, ties that go untold, and candidates that are left out although they may be best.
#include "harness/measure/contest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DecideContest, GivesTheWinnerAndTheMedianPairedRatios) {
  const ContestResult result = decide_contest({{11, 11, 11, 11, 11, 11}, {10, 10, 10, 10, 10, 10}});
  EXPECT_EQ(result.winner, 1U);
  EXPECT_DOUBLE_EQ(result.standings[0].ratio, 1.1);
  EXPECT_DOUBLE_EQ(result.standings[0].interval.low, 1.1);
  EXPECT_DOUBLE_EQ(result.standings[0].median_ns, 11.0);
  EXPECT_FALSE(result.standings[0].tied);
  EXPECT_DOUBLE_EQ(result.standings[1].ratio, 1.0);
  EXPECT_FALSE(result.standings[1].tied) << "the winner is no tie of itself";
}

// The rounds differ by a factor of two, the candidates by 1%: unpaired, no interval would tell.
TEST(DecideContest, TellsOnePercentWhereTheRoundsDriftByAFactor) {
  const std::vector<double> rounds = {100, 130, 160, 190, 200, 170, 140};
  std::vector<std::vector<double>> times(2);
  for (const double round : rounds) {
    times[0].push_back(round * 1.01);
    times[1].push_back(round);
  }
  const ContestResult result = decide_contest(times);
  EXPECT_EQ(result.winner, 1U);
  EXPECT_NEAR(result.standings[0].ratio, 1.01, 1e-12);
  EXPECT_FALSE(result.standings[0].tied);
}

TEST(DecideContest, OneLuckyRoundMakesNoWinner) {
  const ContestResult result =
      decide_contest({{100, 100, 100, 50, 100, 100, 100}, {99, 99, 99, 99, 99, 99, 99}});
  EXPECT_EQ(result.winner, 1U);
  EXPECT_TRUE(result.standings[0].tied) << "it was faster once in seven rounds";
}

TEST(DecideContest, EqualTimesAreTiedAndTheFirstOfThemWins) {
  const ContestResult result = decide_contest({{5, 5, 5, 5, 5, 5}, {5, 5, 5, 5, 5, 5}});
  EXPECT_EQ(result.winner, 0U);
  EXPECT_TRUE(result.standings[1].tied);
}

TEST(DecideContest, RefusesNothingAndTimesThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)decide_contest({}), Error);
  EXPECT_THROW((void)decide_contest({{}}), Error);
  EXPECT_THROW((void)decide_contest({{1, 2}, {1}}), Error);
  EXPECT_THROW((void)decide_contest({{1, 0}}), Error);
  EXPECT_THROW((void)decide_contest({{1, nan}}), Error);
}

TEST(WithinNoise, TakesThoseWhoseIntervalReachesTheBestFastestFirst) {
  const std::vector<double> medians = {12.0, 10.0, 10.4, 11.0};
  const std::vector<Interval> intervals = {{11.5, 12.5}, {9.9, 10.1}, {10.2, 10.6}, {10.0, 12.0}};
  EXPECT_THAT(within_noise(medians, intervals, 1.0, 8), ElementsAre(1, 3));
  EXPECT_THAT(within_noise(medians, intervals, 1.02, 8), ElementsAre(1, 2, 3));
  EXPECT_THAT(within_noise(medians, intervals, 1.02, 2), ElementsAre(1, 2));
  EXPECT_THAT(within_noise(medians, intervals, 2.0, 8), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(within_noise(medians, intervals, 1.0, 0), IsEmpty());
  EXPECT_THAT(within_noise({}, {}, 1.0, 8), IsEmpty());
}

}  // namespace
}  // namespace fusebench
