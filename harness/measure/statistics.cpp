#include "harness/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/error.hpp"
#include "harness/measure/binomial.hpp"

namespace fusebench {

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) throw Error("a quantile of no samples");
  if (!(q >= 0.0 && q <= 1.0)) throw Error("a quantile's share must be in [0, 1], not {}", q);
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

std::vector<double> sorted(std::span<const double> values) {
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) {
    throw Error("a sample is NaN");
  }
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

Interval median_interval(std::span<const double> sorted) {
  if (sorted.empty()) throw Error("a median interval of no samples");
  const auto n = static_cast<double>(sorted.size());
  // P(Bin(n, 1/2) = k) through logarithms: 2^-n underflows from n = 1075 on.
  double below = 0.0;
  std::size_t rank = 0;  // l - 1, the index of the lower order statistic
  for (std::size_t k = 0; k < sorted.size() / 2; ++k) {
    const auto successes = static_cast<double>(k);
    below += std::exp(log_binomial(n, successes) - n * std::log(2.0));
    if (below > 0.025) break;
    rank = k;
  }
  return {sorted[rank], sorted[sorted.size() - 1 - rank]};
}

double median(std::span<const double> sorted) { return quantile(sorted, 0.5); }

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const auto is_probability = [](double value) { return value >= 0.0 && value <= 1.0; };
  if (!std::all_of(p.begin(), p.end(), is_probability)) throw Error("a p value is not in [0, 1]");
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 1.0;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[i] = least;
  }
  return adjusted;
}

double coefficient_of_variation(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return mean == 0.0 ? 0.0 : std::sqrt(squares / (n - 1)) / mean;
}

}  // namespace fusebench
