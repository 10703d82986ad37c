// Statistics and ceilings against answers from numpy, scipy and arithmetic by hand. Catches a quantile or
// rank that is one off, an underflow of 2^-n, and a time that no memory could reach passing as a result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/core/error.hpp"
#include "harness/core/record_fields.hpp"
#include "harness/measure/ceilings.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/measure/statistics.hpp"

namespace fusebench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Share {
  double q;
  double value;
};

// python3 -c "import numpy as np; print([float(np.quantile(DATA, q)) for q in
//             (0, .1, .25, 1/3, .5, .75, .9, 1)])"
TEST(Quantile, IsNumpysDefault) {
  const std::vector<double> odd = sorted(std::vector{3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3});
  for (const auto& [q, value] : {Share{0, 1.0},
                                 {.1, 1.3},
                                 {.25, 2.05},
                                 {1.0 / 3, 2.6},
                                 {.5, 3.0},
                                 {.75, 4.65},
                                 {.9, 6.780000000000001},
                                 {1, 9.0}}) {
    EXPECT_DOUBLE_EQ(quantile(odd, q), value) << q;
  }
  const std::vector<double> even = {10, 20, 40, 80};
  for (const auto& [q, value] : {Share{0, 10},
                                 {.1, 13},
                                 {.25, 17.5},
                                 {1.0 / 3, 20},
                                 {.5, 30},
                                 {.75, 50},
                                 {.9, 68},
                                 {1, 80}}) {
    EXPECT_DOUBLE_EQ(quantile(even, q), value) << q;
  }
  EXPECT_EQ(quantile(std::vector{7.0}, 0.9), 7.0);
}

TEST(Quantile, RefusesNoDataAndSharesOutsideZeroToOne) {
  EXPECT_THROW((void)quantile({}, 0.5), Error);
  for (const double q : {-0.01, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)quantile(std::vector{1.0, 2.0}, q), Error) << q;
  }
}

TEST(Sorted, RefusesNotANumberWhichHasNoPlace) {
  EXPECT_THAT(sorted(std::vector{2.0, -1.0, 2.0, 0.5}), ElementsAre(-1, 0.5, 2, 2));
  EXPECT_THROW((void)sorted(std::vector{1.0, std::numeric_limits<double>::quiet_NaN()}), Error);
}

struct Rank {
  std::size_t n;
  double low;  ///< 1-based
};

// python3 -c "from scipy.stats import binom
// for n in 1,5,6,10,30,100,1000,2000:
//   print(n, max([l for l in range(1, n//2+2) if binom.cdf(l-1, n, .5) <= .025], default=1))"
TEST(MedianInterval, HasTheRanksOfTheBinomialDistribution) {
  for (const auto& [n, low] :
       {Rank{1, 1}, {5, 1}, {6, 1}, {10, 2}, {30, 10}, {100, 40}, {1000, 469}, {2000, 956}}) {
    std::vector<double> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 1.0);
    const Interval interval = median_interval(ranks);
    EXPECT_EQ(interval.low, low) << n;
    EXPECT_EQ(interval.high, static_cast<double>(n) + 1 - low) << n;
  }
  EXPECT_THROW((void)median_interval({}), Error);
}

TEST(CoefficientOfVariation, DividesBySamplesLessOneAndByTheMean) {
  // python3 -c "import numpy as np; x=[9,10,11,14]; print(np.std(x,ddof=1)/np.mean(x))"
  EXPECT_DOUBLE_EQ(coefficient_of_variation(std::vector{9.0, 10.0, 11.0, 14.0}),
                   0.1963860817699352);
  EXPECT_EQ(coefficient_of_variation(std::vector{5.0, 5.0, 5.0}), 0);
  EXPECT_EQ(coefficient_of_variation(std::vector{5.0}), 0);
  EXPECT_EQ(coefficient_of_variation({}), 0);
}

TEST(IsStable, NeedsTenTimesWhoseTwoMediansAgreeWithinTwoPercent) {
  std::vector<double> times(9, 100.0);
  EXPECT_FALSE(is_stable(times));
  times.push_back(100.0);
  EXPECT_TRUE(is_stable(times));
  const auto two_windows = [](double before, double now) {
    std::vector<double> both(5, before);
    both.insert(both.end(), 5, now);
    return both;
  };
  EXPECT_TRUE(is_stable(two_windows(100, 102)));
  EXPECT_TRUE(is_stable(two_windows(100, 98)));
  EXPECT_FALSE(is_stable(two_windows(100, 102.1)));
  EXPECT_FALSE(is_stable(two_windows(100, 97.9)));
}

TEST(IsStable, LooksAtTheLastTenAndAtMediansNotAtOutliers) {
  std::vector<double> times = {900, 800, 700, 600};
  times.insert(times.end(), 10, 100.0);
  EXPECT_TRUE(is_stable(times));
  times.back() = 1e6;
  times[5] = 1e6;
  EXPECT_TRUE(is_stable(times));
  times.insert(times.end(), 3, 200.0);
  EXPECT_FALSE(is_stable(times));
}

TEST(MedianIsKnown, ComparesTheIntervalsWidthWithTheMedian) {
  // Thirty samples: ranks 10 and 21, so 9 low ones and 9 high ones are outside the interval.
  std::vector<double> times(30, 1000.0);
  std::fill_n(times.begin(), 9, 1.0);
  std::fill_n(times.rbegin(), 9, 1e9);
  EXPECT_TRUE(median_is_known(times, 0.0));
  times[9] = 998.0;
  EXPECT_TRUE(median_is_known(times, 0.002));
  EXPECT_FALSE(median_is_known(times, 0.0019));
  std::reverse(times.begin(), times.end());
  EXPECT_TRUE(median_is_known(times, 0.002));
  EXPECT_FALSE(median_is_known({}, 1.0));
}

TEST(PhysicalFloor, CountsAllThatIsReadAndWhatTheCacheCannotHoldOfWhatIsWritten) {
  EXPECT_DOUBLE_EQ(physical_floor_ns(1'000'000, 500'000, 100'000, 2.0), 700'000);
  EXPECT_DOUBLE_EQ(physical_floor_ns(1'000'000, 50'000, 100'000, 2.0), 500'000);
  EXPECT_DOUBLE_EQ(physical_floor_ns(0, 100'000, 100'000, 2.0), 0);
  EXPECT_EQ(physical_floor_ns(1'000'000, 500'000, 0, 0.0), 0);
}

TEST(FloorBandwidth, IsTheDataSheetsOrTwiceTheFastestSampleOfAControl) {
  EXPECT_EQ(floor_bandwidth_gbps({.peak_gbps = 4800}, {.fastest_gbps = 9000}), 4800);
  EXPECT_EQ(floor_bandwidth_gbps({}, {.copy_gbps = 25, .fastest_gbps = 30}), 60);
  EXPECT_EQ(floor_bandwidth_gbps({}, {}), 0);
}

Record control(const char* name, std::optional<double> gbps) {
  Record record;
  record.operator_name = control_operator;
  record.variant = name;
  record.throughput_gbps = gbps;
  return record;
}

TEST(Ceilings, KeepTheBestCopyAndTheBestFillAndNoVariant) {
  Ceilings ceilings;
  Record variant = control("copy", 999.0);
  variant.operator_name = "residual_epilogue";
  ceilings.add(variant);
  ceilings.add(control("copy", std::nullopt));
  EXPECT_EQ(ceilings.copy_gbps, std::nullopt);
  ceilings.add(control("copy", 20));
  ceilings.add(control("memcpy", 25));
  ceilings.add(control("copy", 22));
  EXPECT_EQ(ceilings.copy_gbps, 25);
  EXPECT_EQ(ceilings.fill_gbps, std::nullopt);
  ceilings.add(control("fill", 40));
  ceilings.add(control("fill", 30));
  ceilings.add(control("fma", 1000));  // it waits for no memory
  EXPECT_EQ(ceilings.fill_gbps, 40);
  EXPECT_EQ(ceilings.copy_gbps, 25);
}

TEST(Ceilings, KnowTheFastestSingleSampleOfAnyControlAndOfNoVariant) {
  Ceilings ceilings;
  Record record = control("copy", 20);
  record.useful_bytes = 20'000'000;
  record.min_ns = 800'000;
  ceilings.add(record);
  EXPECT_EQ(ceilings.fastest_gbps, 25);
  record.variant = "fill";
  record.min_ns = 500'000;
  ceilings.add(record);
  EXPECT_EQ(ceilings.fastest_gbps, 40);
  record.min_ns = 1'000'000;
  ceilings.add(record);
  record.useful_bytes = 1'000'000;  // so small a control times the waking of threads
  record.min_ns = 1'000;
  ceilings.add(record);
  record.min_ns = 1;
  record.operator_name = "residual_epilogue";
  ceilings.add(record);
  EXPECT_EQ(ceilings.fastest_gbps, 40);
}

// Every column that ends in _ns, and the rates made from them.
std::vector<std::string> times_in(const Record& record) {
  std::vector<std::string> present;
  visit_fields(record, [&](const std::string& name, const auto& field) {
    if constexpr (requires { field.has_value(); }) {
      const bool time = name.ends_with("_ns") || name == "cv" || name == "throughput_gbps" ||
                        name == "ceiling_percent";
      if (time && field.has_value()) present.push_back(name);
    }
  });
  return present;
}

Record timed(double median_ns) {
  Record record;
  visit_fields(record, [](const char*, auto& field) {
    if constexpr (std::is_same_v<decltype(field), std::optional<double>&>) field = 1.0;
  });
  record.outcome = Outcome::passed;
  record.median_ns = median_ns;
  record.throughput_gbps = 18.0;
  record.ceiling_percent.reset();
  return record;
}

TEST(ClearTimes, LeavesNoTimeAndNoRate) {
  Record record = timed(5);
  record.ceiling_percent = 3.0;
  ASSERT_EQ(times_in(record).size(), 11U);
  clear_times(record);
  EXPECT_THAT(times_in(record), ElementsAre());
  EXPECT_TRUE(record.max_abs_error.has_value());
}

TEST(ApplyCeilings, GivesTheShareOfTheBestCopyToATimeAtTheFloor) {
  // 4000 bytes read, 2000 written, 1000 of which the cache holds, at 10 GB/s.
  Record record = timed(500.0);
  apply_ceilings(record, {.copy_gbps = 24.0}, {.cache_bytes = 1000, .peak_gbps = 10}, 4000, 2000);
  EXPECT_EQ(record.outcome, Outcome::passed);
  EXPECT_EQ(record.median_ns, 500.0);
  EXPECT_EQ(record.ceiling_percent, 75.0);
}

TEST(ApplyCeilings, FailsATimeUnderTheFloorAndClearsIt) {
  Record record = timed(499.0);
  apply_ceilings(record, {.copy_gbps = 24.0}, {.cache_bytes = 1000, .peak_gbps = 10}, 4000, 2000);
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(record.reason, AllOf(HasSubstr("499 ns"), HasSubstr("500 ns")));
  EXPECT_THAT(times_in(record), ElementsAre());
}

TEST(ApplyCeilings, LeavesARecordAloneThatHasNoTimeOrNoCeiling) {
  Record untimed = timed(1.0);
  clear_times(untimed);
  untimed.outcome = Outcome::wrong;
  apply_ceilings(untimed, {.copy_gbps = 24.0}, {.peak_gbps = 10}, 4000, 2000);
  EXPECT_EQ(untimed.outcome, Outcome::wrong);
  EXPECT_EQ(untimed.ceiling_percent, std::nullopt);

  Record record = timed(1.0);
  apply_ceilings(record, {}, {}, 4000, 2000);
  EXPECT_EQ(record.outcome, Outcome::passed);
  EXPECT_EQ(record.ceiling_percent, std::nullopt);
}

}  // namespace
}  // namespace fusebench
