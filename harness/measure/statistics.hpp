// Statistics of samples: pure functions with known answers.
#pragma once

#include <span>
#include <vector>

namespace fusebench {

/// The value at share `q` of sorted data, by linear interpolation between order statistics (Hyndman
/// and Fan's definition 7, numpy's default). Throws Error on no data or q outside [0, 1].
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// `values` in ascending order. Throws Error when one is NaN.
[[nodiscard]] std::vector<double> sorted(std::span<const double> values);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// A distribution-free interval of the median that holds it with at least 95% probability: the order
/// statistics l and n + 1 - l with the largest l for which P(Bin(n, 1/2) < l) <= 2.5% (Conover,
/// Practical Nonparametric Statistics, 3.2). For n < 6 no such l exists: the whole range.
[[nodiscard]] Interval median_interval(std::span<const double> sorted);

/// The mean of the two middle values, or the middle one. Throws Error on no data.
[[nodiscard]] double median(std::span<const double> sorted);

/// The p values adjusted so that calling all under `q` keeps the expected share of false ones among those
/// called at most q: min over k >= rank of p_(k) m / k, 1 at most (Benjamini and Hochberg, Controlling the
/// False Discovery Rate, 1995). In the order given. Throws Error for a p outside [0, 1].
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

/// Standard deviation (n - 1) over mean; 0 for fewer than two values.
[[nodiscard]] double coefficient_of_variation(std::span<const double> values);

}  // namespace fusebench
