// What compares two sets of replicas, against scipy 1.17.1 and against counting everything out. Catches a tail
// counted once, ties ranked by place, an exact test used beyond what it holds for, and an interval that a
// bootstrap would not give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "harness/core/error.hpp"
#include "harness/measure/median_ratio.hpp"
#include "harness/measure/rank_test.hpp"
#include "harness/measure/statistics.hpp"
#include "seed.hpp"

namespace fusebench {
namespace {

using Values = std::vector<double>;

Values counted(int count, double from) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(from + i);
  return values;
}

struct Known {
  const char* name;
  Values first, second;
  double u, p;
  bool exact;
};

Values periodic(int count, int period, double from) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(from + i % period);
  return values;
}

Values ones_and_twos(int ones, int twos) {
  Values values(static_cast<std::size_t>(ones), 1.0);
  values.insert(values.end(), static_cast<std::size_t>(twos), 2.0);
  return values;
}

// scipy.stats.mannwhitneyu(first, second, method=...): "exact" without ties, PermutationMethod(n_resamples=10**9)
// for small ones with ties, "asymptotic" for the large.
TEST(RankTest, GivesScipysUAndP) {
  const Known known[] = {
      {"8 and 8",
       {1.00, 1.02, 0.99, 1.01, 1.03, 0.98, 1.04, 1.05},
       {1.06, 1.005, 1.07, 1.08, 1.09, 1.10, 1.11, 1.015},
       9.0,
       0.014763014763014764,
       true},
      {"5 and 5 apart", counted(5, 1), counted(5, 6), 0.0, 0.007936507936507936, true},
      {"10 and 10 apart", counted(10, 1), counted(10, 11), 0.0, 1.082508822446903e-05, true},
      {"5 and 4", {19, 22, 16, 29, 24}, {20, 11, 17, 12}, 17.0, 0.1111111111111111, true},
      {"20 and 20", counted(20, 1), counted(20, 7.5), 91.0, 0.0026426305915593523, true},
      {"50 and 50", counted(50, 1), counted(50, 19.5), 496.0, 6.021505768991988e-08, true},
      {"ties, 7 and 6", {1, 2, 2, 3, 3, 3, 4}, {3, 4, 4, 5, 5, 6}, 3.5, 0.015151515151515152, true},
      {"ties, 4 and 5", {5, 5, 5, 6}, {5, 6, 7, 7, 8}, 3.0, 0.14285714285714285, true},
      {"ties, 15 and 15", ones_and_twos(9, 6), ones_and_twos(2, 13), 60.0, 0.009804070710808818,
       false},
      {"ties, 60 and 55", periodic(60, 17, 0), periodic(55, 13, 5), 998.0, 0.00025761389660954856,
       false},
      {"60 and 51", counted(60, 0), counted(51, 8.5), 1326.0, 0.22852654794041205, false}};
  RankTest test;
  for (const Known& k : known) {
    const RankTestResult result = test(k.first, k.second);
    EXPECT_EQ(result.u, k.u) << k.name;
    EXPECT_NEAR(result.p, k.p, 1e-9 * k.p) << k.name;
    EXPECT_EQ(result.exact, k.exact) << k.name;
    const RankTestResult swapped = test(k.second, k.first);
    EXPECT_EQ(swapped.u, static_cast<double>(k.first.size() * k.second.size()) - k.u) << k.name;
    EXPECT_NEAR(swapped.p, k.p, 1e-9 * k.p) << k.name;
  }
}

double u_of(const Values& first, const Values& second) {
  double u = 0.0;
  for (const double a : first) {
    for (const double b : second) u += a > b ? 1.0 : (a == b ? 0.5 : 0.0);
  }
  return u;
}

double p_by_dealing_all_ways(const Values& first, const Values& second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::vector<bool> chosen(all.size(), false);
  std::fill(chosen.end() - static_cast<std::ptrdiff_t>(first.size()), chosen.end(), true);
  const double seen = u_of(first, second);
  double ways = 0, below = 0, above = 0;
  do {
    Values a, b;
    for (std::size_t i = 0; i < all.size(); ++i) (chosen[i] ? a : b).push_back(all[i]);
    const double u = u_of(a, b);
    ways += 1;
    below += u <= seen ? 1 : 0;
    above += u >= seen ? 1 : 0;
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  return std::min(1.0, 2 * std::min(below, above) / ways);
}

TEST(RankTest, CountsWhatDealingTheValuesAllWaysCounts) {
  std::mt19937_64 random(test::seed());
  RankTest rank_test;
  for (int round = 0; round < 60; ++round) {
    const auto values = static_cast<int>(2 + random() % 12);  // few values: many ties
    const auto draw = [&](std::size_t n) {
      Values v(n);
      for (double& x : v) x = static_cast<double>(random() % static_cast<unsigned>(values));
      return v;
    };
    const Values first = draw(1 + random() % 6);
    const Values second = draw(1 + random() % 6);
    const RankTestResult result = rank_test(first, second);
    EXPECT_EQ(result.u, u_of(first, second));
    EXPECT_NEAR(result.p, p_by_dealing_all_ways(first, second), 1e-12) << "round " << round;
  }
}

TEST(RankTest, FindsNothingWhereAllValuesAreOneAndRefusesNoneAndNaN) {
  RankTest test;
  EXPECT_EQ(test(Values(5, 2.0), Values(7, 2.0)).p, 1.0);
  EXPECT_EQ(test(Values(60, 2.0), Values(70, 2.0)).p, 1.0);
  EXPECT_THROW((void)test(Values{}, Values{1}), Error);
  EXPECT_THROW((void)test(Values{1}, Values{}), Error);
  EXPECT_THROW((void)test(Values{1}, Values{std::numeric_limits<double>::quiet_NaN()}), Error);
}

// scipy.stats.false_discovery_control(P)
TEST(BenjaminiHochberg, IsScipys) {
  const Values eight = benjamini_hochberg(Values{0.01, 0.02, 0.03, 0.2, 0.0005, 0.9, 0.03, 0.5});
  const Values expected = {0.04,  0.048, 0.048, 0.26666666666666666,
                           0.004, 0.9,   0.048, 0.5714285714285714};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(eight[i], expected[i]) << i;
  const Values five = benjamini_hochberg(Values{0.04, 0.001, 0.6, 0.02, 1.0});
  const Values of_five = {0.06666666666666667, 0.005, 0.75, 0.05, 1.0};
  for (std::size_t i = 0; i < of_five.size(); ++i) EXPECT_DOUBLE_EQ(five[i], of_five[i]) << i;
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_THROW((void)benjamini_hochberg(Values{0.5, 1.5}), Error);
  EXPECT_THROW((void)benjamini_hochberg(Values{std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(ResampledMedian, IsWhatAllResamplesHave) {
  for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U}) {
    // Values that all differ in every mean of two, so that the median tells its places.
    Values values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::pow(3.0, static_cast<double>(i));
    std::size_t count = 1;
    for (std::size_t i = 0; i < n; ++i) count *= n;
    std::map<double, double> by_counting;
    for (std::size_t code = 0; code < count; ++code) {
      Values drawn;
      for (std::size_t i = 0, rest = code; i < n; ++i, rest /= n) drawn.push_back(values[rest % n]);
      std::sort(drawn.begin(), drawn.end());
      by_counting[median(drawn)] += 1.0 / static_cast<double>(count);
    }
    std::map<double, double> by_formula;
    for (const MedianPlace& place : resampled_median(n)) {
      by_formula[0.5 * (values[place.low] + values[place.high])] += place.probability;
    }
    ASSERT_EQ(by_formula.size(), by_counting.size()) << n;
    for (const auto& [value, probability] : by_counting) {
      EXPECT_NEAR(by_formula[value], probability, 1e-9) << n << " values, median " << value;
    }
  }
  EXPECT_THROW((void)resampled_median(0), Error);
}

TEST(ResampledMedian, StaysADistributionForManyValues) {
  for (const std::size_t n : {20U, 101U, 400U, 1029U, 1100U, 2000U, 2001U}) {
    double sum = 0.0, middle = 0.0;
    for (const MedianPlace& place : resampled_median(n)) {
      EXPECT_LE(place.low, place.high);
      EXPECT_LT(place.high, n);
      sum += place.probability;
      middle += place.probability * 0.5 * static_cast<double>(place.low + place.high);
    }
    EXPECT_TRUE(std::isfinite(sum)) << n;
    EXPECT_NEAR(sum, 1.0, 1e-9) << n;
    EXPECT_NEAR(middle, 0.5 * static_cast<double>(n - 1), 1e-3) << n;
  }
}

// scipy.stats.bootstrap((b, a), median(b) / median(a), n_resamples=400000, method="percentile"): its resamples are
// drawn, ours are not, so the ends agree to the next value that the ratio can take.
TEST(MedianRatio, HasTheIntervalOfABootstrap) {
  const Values a =
      sorted(Values{100.1, 100.4, 99.8, 100.0, 100.9, 99.5, 100.2, 100.3, 101.5, 99.9});
  const Values b =
      sorted(Values{101.0, 101.4, 100.6, 101.9, 101.2, 100.8, 101.1, 103.0, 101.3, 100.7});
  MedianRatio ratio;
  const Interval ten = ratio.interval(b, a);
  EXPECT_NEAR(ten.low, 1.004980079681275, 1e-4);
  EXPECT_NEAR(ten.high, 1.0145145145145145, 1e-4);
  const Values nine = sorted(Values{100.1, 100.4, 99.8, 100.0, 100.9, 99.5, 100.2, 100.3, 101.5});
  const Values seven = sorted(Values{101.0, 101.4, 100.6, 101.9, 101.2, 100.8, 101.1});
  const Interval odd = ratio.interval(seven, nine);
  EXPECT_NEAR(odd.low, 1.0029732408325074, 2e-8);
  EXPECT_NEAR(odd.high, 1.014, 2e-8);
}

TEST(MedianRatio, HasAnIntervalThatScalesAndTurnsOverWithItsData) {
  std::mt19937_64 random(test::seed());
  std::lognormal_distribution<double> draw(0.0, 0.01);
  MedianRatio ratio;
  for (const std::size_t n : {1U, 2U, 9U, 10U, 20U}) {
    Values a(n), b(n + 1);
    for (double& v : a) v = draw(random);
    for (double& v : b) v = draw(random);
    a = sorted(a);
    b = sorted(b);
    const Interval once = ratio.interval(b, a);
    const double medians = median(b) / median(a);
    EXPECT_LE(once.low, medians * (1 + 2e-8));
    EXPECT_GE(once.high, medians * (1 - 2e-8));
    Values doubled = b;
    for (double& v : doubled) v *= 2;
    EXPECT_NEAR(ratio.interval(doubled, a).low, 2 * once.low, 5e-8);
    EXPECT_NEAR(ratio.interval(a, b, 0.9).low, 1 / ratio.interval(b, a, 0.9).high, 5e-8);
    const Interval wider = ratio.interval(b, a, 0.999);
    EXPECT_LE(wider.low, once.low);
    EXPECT_GE(wider.high, once.high);
  }
}

// About 1.96 standard errors of a median of n, which is 1 / sqrt(4 n) in rank: no formula's limit lies between.
TEST(MedianRatio, NarrowsItsIntervalAsTheReplicasGrowMany) {
  MedianRatio ratio;
  double before = 1.0;
  for (const std::size_t n : {100U, 400U, 1100U, 2000U}) {
    Values values(n);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = 1.0 + 0.1 * static_cast<double>(i) / static_cast<double>(n);
    }
    const Interval interval = ratio.interval(values, values);
    const double expected = 1.96 * std::sqrt(2.0 / 4.0 / static_cast<double>(n)) * 0.1 / 1.05;
    EXPECT_NEAR(interval.high - 1.0, expected, 0.1 * expected) << n;
    EXPECT_NEAR(1.0 - interval.low, expected, 0.1 * expected) << n;
    EXPECT_LT(interval.high - interval.low, before);
    before = interval.high - interval.low;
  }
}

TEST(MedianRatio, RefusesWhatHasNoRatio) {
  MedianRatio ratio;
  const Values good = {1, 2};
  EXPECT_THROW((void)ratio.interval(Values{}, good), Error);
  EXPECT_THROW((void)ratio.interval(good, Values{}), Error);
  EXPECT_THROW((void)ratio.interval(good, Values{0, 1}), Error);
  EXPECT_THROW((void)ratio.interval(Values{1, std::numeric_limits<double>::infinity()}, good),
               Error);
  EXPECT_THROW((void)ratio.interval(good, good, 1.0), Error);
}

TEST(SelfSpread, IsTheNinetyFifthPercentileOverAllHalves) {
  const Values values = {100, 101, 103, 107, 115, 131};
  Values differences;
  std::vector<bool> chosen = {false, false, false, true, true, true};
  do {
    Values a, b;
    for (std::size_t i = 0; i < values.size(); ++i) (chosen[i] ? a : b).push_back(values[i]);
    differences.push_back(std::max(a[1], b[1]) / std::min(a[1], b[1]) - 1);
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  ASSERT_EQ(differences.size(), 20U);
  std::sort(differences.begin(), differences.end());
  MedianRatio ratio;
  EXPECT_DOUBLE_EQ(ratio.self_spread(values), differences[18]);  // floor(0.95 * 19)
  EXPECT_EQ(ratio.self_spread(Values{5}), 0.0);
  EXPECT_EQ(ratio.self_spread(Values(20, 5.0)), 0.0);
}

TEST(SelfSpread, DrawsItsHalvesByTheSeedWhereThereAreTooManyToDealAll) {
  EXPECT_EQ(splits(12, 1).size(), 924U);
  const auto same = [](const Split& a, const Split& b) {
    return a.first.low == b.first.low && a.second.low == b.second.low;
  };
  const auto one = splits(20, 1), again = splits(20, 1), other = splits(20, 2);
  EXPECT_EQ(one.size(), 1000U);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), again.begin(), again.end(), same));
  EXPECT_FALSE(std::equal(one.begin(), one.end(), other.begin(), other.end(), same));
  EXPECT_THROW((void)splits(1, 1), Error);
}

}  // namespace
}  // namespace fusebench
