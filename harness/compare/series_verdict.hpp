// What the times of a series say: its numbers, and the verdict on them.
#pragma once

#include <span>

#include "harness/compare/comparison.hpp"
#include "harness/measure/median_ratio.hpp"
#include "harness/measure/rank_test.hpp"

namespace fusebench {

/// The numbers of two sides with times. Keeps the tables that series of the same size share.
class Statistician {
 public:
  explicit Statistician(const CompareRules& rules) : rules_(&rules) {}

  /// Fills ratio, size, interval, p and spread from the replicas' medians, sorted, at least one a side. `series` has the
  /// medians of both sides.
  void fill(std::span<const double> before, std::span<const double> after,
            SeriesComparison& series);

 private:
  const CompareRules* rules_;
  RankTest test_;
  MedianRatio ratio_;
};

[[nodiscard]] bool enough_replicas(const SeriesComparison& series, const CompareRules& rules);

/// Verdict and reason from the numbers, adjusted_p among them where there are enough replicas. `tested`: how many series
/// have a p.
void judge_times(SeriesComparison& series, const CompareRules& rules, std::size_t tested);

}  // namespace fusebench
