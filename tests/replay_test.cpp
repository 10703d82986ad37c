// The yardstick that strategies are scored by, on spaces whose numbers can be worked out by hand. Catches an index
// that is off by one, a score that rewards failures, and a cost that is charged too late.
#include "harness/tune/replay.hpp"
#include "harness/tune/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

// n configurations whose times are 1, 2, ... n milliseconds in the order of the space, each at the same cost.
RecordedSpace line(std::int64_t n, double cost_ns = 1e9) {
  SpaceParameter parameter{.name = "p", .values = {}};
  for (std::int64_t i = 0; i < n; ++i) parameter.values.emplace_back(i);
  RecordedSpace recorded{.kernel = "line",
                         .device = "none",
                         .space = SearchSpace({parameter}, std::vector<std::string>{}),
                         .observations = {}};
  for (std::int64_t i = 0; i < n; ++i) {
    Observation observation;
    observation.time_ns = 1e6 * static_cast<double>(i + 1);
    observation.compile_ns = cost_ns;
    recorded.observations.push_back(observation);
  }
  return recorded;
}

TEST(Yardstick, BudgetAndRandomSearchAreTheMethodologys) {
  // Sorted worst to best: 100, 99, ... 1. Median 50.5, so near enough is at most 1 + 49.5 * 0.05 = 3.475:
  // the first such is 3, at place 97 from 0. M = ceil(97 / (101 - 97)) = 25.
  const RecordedSpace recorded = line(100);
  const Yardstick yardstick(recorded);
  EXPECT_DOUBLE_EQ(yardstick.optimum_ns(), 1e6);
  EXPECT_DOUBLE_EQ(yardstick.median_ns(), 50.5e6);
  EXPECT_EQ(yardstick.budget_draws(), 25U);
  EXPECT_DOUBLE_EQ(yardstick.draw_cost_ns(), 1e9);
  // After 1 draw place round(101 / 2) = 51 (50.5 away from zero): 49. After 9, round(9 * 101 / 10) = 91: 9.
  EXPECT_DOUBLE_EQ(yardstick.random_ns(1), 49e6);
  EXPECT_DOUBLE_EQ(yardstick.random_ns(9), 9e6);
  EXPECT_DOUBLE_EQ(yardstick.random_ns(1'000'000), 1e6);
  EXPECT_DOUBLE_EQ(yardstick.gain(9, 9e6), 0.0);
  EXPECT_DOUBLE_EQ(yardstick.gain(9, 1e6), 1.0);
  EXPECT_DOUBLE_EQ(yardstick.gain(9, 17e6), -1.0);
  EXPECT_DOUBLE_EQ(yardstick.gain(1'000'000, 1e6), 1.0);
  EXPECT_DOUBLE_EQ(yardstick.gain(1'000'000, 2e6), 0.0);
  EXPECT_EQ(Yardstick(recorded, 0.95, 7).budget_draws(), 7U);
  EXPECT_THROW(Yardstick(recorded, 1.0), Error);
  EXPECT_THROW(Yardstick(recorded, 0.95, 0), Error);
}

TEST(Yardstick, HasNoScoreWhereRandomSearchIsExpectedBesideTheOptimum) {
  EXPECT_FALSE(Yardstick(line(100)).too_near_after());
  // Eight times: random search has the third best after 1 draw, the second best after 2, the optimum after 3.
  RecordedSpace recorded = line(8);
  const auto second = [&](double ns) {
    recorded.observations[1].time_ns = ns;
    return Yardstick(recorded, 0.95, 4);
  };
  // The median is 4.5 ms, the optimum 1 ms: a two-hundredth of the way is at 1.0175 ms.
  ASSERT_EQ(second(1.01e6).random_ns(2), 1.01e6);
  EXPECT_EQ(second(1.01e6).too_near_after(), std::optional<std::size_t>(2));
  EXPECT_EQ(second(1.017e6).too_near_after(), std::optional<std::size_t>(2));
  EXPECT_FALSE(second(1.018e6).too_near_after());
  EXPECT_FALSE(second(1e6).too_near_after()) << "it has the optimum: a gain is then 1 or 0";
  ASSERT_TRUE(second(1.01e6).too_near_after());
  EXPECT_FALSE(Yardstick(recorded, 0.95, 1).too_near_after()) << "the budget ends before";
}

TEST(Replay, ExhaustiveSearchFindsWhatTheOrderSays) {
  RecordedSpace recorded = line(100);
  for (std::size_t i = 0; i < 100; ++i) {  // the fastest last
    recorded.observations[i].time_ns = 1e6 * static_cast<double>(100 - i);
  }
  const Yardstick yardstick(recorded, 0.95, 10);
  const ReplayRun run = replay(recorded, yardstick, "exhaustive", 1);
  ASSERT_EQ(run.by_draws_ns.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(run.by_draws_ns[i], 1e6 * static_cast<double>(100 - i));
    EXPECT_DOUBLE_EQ(run.by_cost_ns[i], run.by_draws_ns[i]);
  }
}

TEST(Replay, BeginsWithTheDefaultWhereItIsKnownAndAsksForItNoMore) {
  RecordedSpace recorded = line(100);
  recorded.begin = 7;
  const Yardstick yardstick(recorded, 0.95, 100);
  for (const StrategyInfo& info : strategies()) {
    const std::string strategy = info.name;
    const ReplayRun run = replay(recorded, yardstick, strategy, 1);
    EXPECT_DOUBLE_EQ(run.by_draws_ns.front(), 8e6) << strategy;
    // 100 draws are all of the space: had one been asked for twice, the search had ended before the optimum or after.
    EXPECT_DOUBLE_EQ(run.by_draws_ns.back(), 1e6) << strategy;
  }
  const ReplayRun run = replay(recorded, Yardstick(recorded, 0.95, 3), "exhaustive", 1);
  EXPECT_EQ(run.by_draws_ns, (std::vector<double>{8e6, 1e6, 1e6}));
}

TEST(Replay, AFailureCostsADrawAndIsNoReward) {
  RecordedSpace recorded = line(100);
  for (std::size_t i = 0; i < 3; ++i) recorded.observations[i].invalidity = Invalidity::runtime;
  const ReplayRun run = replay(recorded, Yardstick(recorded, 0.95, 5), "exhaustive", 1);
  // Until something passes, the median of what can: 52 of 4 to 100.
  const std::vector<double> expected = {52e6, 52e6, 52e6, 4e6, 4e6};
  EXPECT_EQ(run.by_draws_ns, expected);
}

TEST(Replay, ByCostAFindCountsFromWhenItIsPaidFor) {
  RecordedSpace recorded = line(100);
  recorded.observations[0].compile_ns =
      2.5e9;  // ready between the second and the third draw's cost
  const ReplayRun run = replay(recorded, Yardstick(recorded, 0.95, 4), "exhaustive", 1);
  const std::vector<double> by_cost = {50.5e6, 50.5e6, 1e6, 1e6};
  EXPECT_EQ(run.by_cost_ns, by_cost);
  EXPECT_DOUBLE_EQ(run.by_draws_ns[0], 1e6);
}

TEST(Replay, WithoutRecordedCostsEveryDrawCostsTheSame) {
  const RecordedSpace recorded = line(50, 0.0);
  const ReplayRun run = replay(recorded, Yardstick(recorded), "random", 3);
  EXPECT_EQ(run.by_cost_ns, run.by_draws_ns);
}

TEST(Replay, ABudgetBeyondTheSpaceEndsWithTheOptimum) {
  const RecordedSpace recorded = line(20);
  const ReplayRun run = replay(recorded, Yardstick(recorded, 0.95, 50), "random", 3);
  ASSERT_EQ(run.by_draws_ns.size(), 50U);
  EXPECT_DOUBLE_EQ(run.by_draws_ns.back(), 1e6);
}

TEST(Score, IsTheMeanOverTheRunsWithItsStandardError) {
  const Estimate estimated = estimate({1.0, 2.0, 3.0, 6.0});
  EXPECT_DOUBLE_EQ(estimated.mean, 3.0);
  // Variance (4 + 1 + 0 + 9) / 3, over 4 runs.
  EXPECT_NEAR(estimated.standard_error, std::sqrt(14.0 / 3.0 / 4.0), 1e-12);
  EXPECT_EQ(estimate({5.0}).standard_error, 0.0);
}

TEST(Score, OfRandomSearchIsNearNothingAndTheSameForTheSameSeeds) {
  const RecordedSpace recorded = line(2000);
  const Yardstick yardstick(recorded);
  const StrategyScore first = score_strategy(recorded, yardstick, "random", 200, 5);
  // Seeds are fixed, so this is a fact and no wager; the rule's rounding leaves a bias below a tenth.
  EXPECT_NEAR(first.by_draws.mean, 0.0, 0.1);
  ASSERT_EQ(first.found_ns.size(), 200U);
  EXPECT_EQ(*std::max_element(first.found_ns.begin(), first.found_ns.end()), first.worst_found_ns);
  const StrategyScore again = score_strategy(recorded, yardstick, "random", 200, 5);
  EXPECT_EQ(first.by_draws.mean, again.by_draws.mean);
  EXPECT_THROW((void)score_strategy(recorded, yardstick, "random", 0, 5), Error);
}

}  // namespace
}  // namespace fusebench
