// The ratio of two medians, how sure it is, and how far it strays when nothing has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "harness/measure/statistics.hpp"

namespace fusebench {

/// Where a sample's resampled median may lie: the mean of two of its order statistics (from 0; the same one
/// twice when their number is odd), with what probability.
struct MedianPlace {
  std::size_t low = 0;
  std::size_t high = 0;
  double probability = 0.0;
};

/// The distribution of the median of n values drawn with replacement from n, by order statistics and so
/// for any data: what a bootstrap with endless resamples would find (Efron, Bootstrap Methods, 1979,
/// remark on the median; even n: the joint law of both middle draws). Places less likely than 1e-7 are left out.
/// Throws Error for n = 0.
[[nodiscard]] std::vector<MedianPlace> resampled_median(std::size_t n);

/// Both halves' medians when a sample is dealt into two: all ways to deal it, or 1000 drawn with `seed` where
/// there are more. Throws Error for n < 2.
struct Split {
  MedianPlace first, second;
};
[[nodiscard]] std::vector<Split> splits(std::size_t n, std::uint64_t seed);

/// It keeps the tables of each size for the next series.
class MedianRatio {
 public:
  /// The percentile bootstrap's interval of median(numerator) / median(denominator), each resampled by itself;
  /// no resample is drawn, so there is no seed. Both sorted, above 0 and finite. Throws Error on no data, a value
  /// that is not above 0, or a confidence outside (0, 1).
  [[nodiscard]] Interval interval(std::span<const double> numerator,
                                  std::span<const double> denominator, double confidence = 0.95);

  /// How far the medians of two halves of one sample differ when it is dealt at random: the 95th percentile of
  /// larger / smaller - 1. What a change must exceed to be one. Sorted, above 0; 0 for fewer than two values.
  [[nodiscard]] double self_spread(std::span<const double> sorted);

 private:
  std::map<std::size_t, std::vector<MedianPlace>> places_;
  std::map<std::size_t, std::vector<Split>> splits_;
};

}  // namespace fusebench
