// A time as budget, shared by searches and finals, with a clock that is a number. Catches a final that comes on top of the
// time, one that leaves none to the search, and a first search that leaves nothing to the last.
#include "harness/cli/time_shares.hpp"

#include <gtest/gtest.h>

#include "harness/cli/variant_search.hpp"

namespace fusebench {
namespace {

constexpr auto rounds = static_cast<double>(VariantSearch::rounds);

TEST(TimeShares, WithoutABudgetNothingEnds) {
  TimeShares shares(std::nullopt, 1);
  shares.at(0, 1e9);
  shares.add_step(1e6);
  EXPECT_FALSE(shares.is_up());
  EXPECT_FALSE(shares.search_is_over(8, 100));
  EXPECT_EQ(shares.finalists(8), 8U);
}

TEST(TimeShares, EachSearchHasAnEqualPartOfWhatIsLeft) {
  TimeShares shares(90.0, 3);
  shares.at(0, 0.0);
  shares.at(0, 30.0);
  EXPECT_FALSE(shares.is_up());
  shares.at(0, 30.1);
  EXPECT_TRUE(shares.is_up());
  shares.at(1, 10.0);  // the first was early: 80 seconds for two
  shares.at(1, 49.9);
  EXPECT_FALSE(shares.is_up());
  shares.at(1, 50.1);
  EXPECT_TRUE(shares.is_up());
  shares.at(2, 95.0);  // late: nothing is left
  EXPECT_TRUE(shares.is_up());
  EXPECT_TRUE(shares.search_is_over(8, 0));
  EXPECT_EQ(shares.finalists(8), 0U);
}

TEST(TimeShares, ASearchEndsInTimeForAllRoundsOfItsFinal) {
  TimeShares shares(1000.0, 1);
  shares.at(0, 0.0);
  shares.add_step(1.0);
  const double final = rounds * 10;  // 8 and two favourites, a second each
  shares.at(0, 999.0 - final);
  EXPECT_FALSE(shares.search_is_over(8, 100));
  shares.at(0, 1001.0 - final);
  EXPECT_TRUE(shares.search_is_over(8, 100));
  EXPECT_FALSE(shares.search_is_over(8, 9)) << "no more can come into the final";
  EXPECT_FALSE(shares.search_is_over(0, 100)) << "there is none";
  EXPECT_FALSE(shares.is_up());
}

TEST(TimeShares, AFinalHasAtMostHalf) {
  TimeShares shares(20.0, 1);
  shares.at(0, 0.0);
  shares.add_step(5.0);
  shares.at(0, 9.9);
  EXPECT_FALSE(shares.search_is_over(8, 100));
  shares.at(0, 10.1);
  EXPECT_TRUE(shares.search_is_over(8, 100));
}

TEST(TimeShares, AsManyComeIntoTheFinalAsItsRoundsHaveTimeFor) {
  TimeShares shares(1000.0, 1);
  shares.at(0, 0.0);
  shares.add_step(2.0);
  shares.add_step(0.0);  // a second on average
  const auto with = [&](double seconds_left) {
    shares.at(0, 1000.0 - seconds_left);
    return shares.finalists(8);
  };
  EXPECT_EQ(with(10 * rounds + 0.5), 8U);
  EXPECT_EQ(with(6 * rounds + 0.5), 4U);
  EXPECT_EQ(with(2 * rounds), 1U);
  EXPECT_EQ(with(2.0 * VariantSearch::least_rounds + 0.1), 1U);
  EXPECT_EQ(with(2.0 * VariantSearch::least_rounds - 0.1), 0U);
  EXPECT_EQ(shares.finalists(0), 0U);
}

}  // namespace
}  // namespace fusebench
