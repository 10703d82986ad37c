#include "harness/measure/median_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "harness/core/error.hpp"
#include "harness/measure/binomial.hpp"

namespace fusebench {
namespace {

constexpr double negligible = 1e-7;
constexpr std::size_t most_splits = 1000;
constexpr double spread_share = 0.95;

// P(at least `k` of n draws are among the `i` smallest values), by i from 0 to n.
std::vector<double> at_least(std::size_t n, std::size_t k) {
  const auto all = static_cast<double>(n);
  std::vector<double> log_ways;
  for (std::size_t j = k; j <= n; ++j)
    log_ways.push_back(log_binomial(all, static_cast<double>(j)));
  std::vector<double> sums = {0.0};
  for (std::size_t i = 1; i < n; ++i) {
    const double log_share = std::log(static_cast<double>(i) / all);
    const double log_rest = std::log(static_cast<double>(n - i) / all);
    double sum = 0.0;
    // One exponent: from n = 1030 on the coefficient alone overflows, and the powers underflow.
    for (std::size_t j = k; j <= n; ++j) {
      sum += std::exp(log_ways[j - k] + static_cast<double>(j) * log_share +
                      static_cast<double>(n - j) * log_rest);
    }
    sums.push_back(sum);
  }
  sums.push_back(1.0);
  return sums;
}

// P(the m-th and m+1-th of 2 m draws are the i-th and j-th values), i < j: m draws up to i, one of them i, and
// m from j on, one of them j. In logarithms, as above.
class Middles {
 public:
  explicit Middles(std::size_t m)
      : log_ways_(log_binomial(2.0 * static_cast<double>(m), static_cast<double>(m))), m_(m) {
    const auto exponent = static_cast<double>(m);
    for (std::size_t count = 1; count <= 2 * m; ++count) {
      const auto c = static_cast<double>(count);
      log_up_to_.push_back(exponent * std::log(c / (2.0 * exponent)) +
                           std::log1p(-std::pow((c - 1.0) / c, exponent)));
    }
  }

  [[nodiscard]] double operator()(std::size_t i, std::size_t j) const {
    return std::exp(log_ways_ + log_up_to_[i - 1] + log_up_to_[2 * m_ - j]);
  }

 private:
  double log_ways_;
  std::size_t m_;
  std::vector<double>
      log_up_to_;  // [c - 1]: log P(m draws are among the c smallest, not all among c - 1)
};

MedianPlace middle_of(std::span<const std::size_t> ascending) {
  const std::size_t n = ascending.size();
  return {ascending[(n - 1) / 2], ascending[n / 2], 0.0};
}

Split split_by(const std::vector<bool>& in_first) {
  std::vector<std::size_t> first, second;
  for (std::size_t i = 0; i < in_first.size(); ++i) (in_first[i] ? first : second).push_back(i);
  return {middle_of(first), middle_of(second)};
}

double value_at(std::span<const double> sorted, const MedianPlace& place) {
  return 0.5 * (sorted[place.low] + sorted[place.high]);
}

// Values of a discrete distribution in ascending order, and the probability of each.
struct Distribution {
  std::vector<double> values;
  std::vector<double> probabilities;
};

Distribution medians_of(std::span<const double> sorted, std::span<const MedianPlace> places) {
  std::vector<std::pair<double, double>> points;
  for (const MedianPlace& place : places) {
    points.emplace_back(value_at(sorted, place), place.probability);
  }
  std::sort(points.begin(), points.end());
  Distribution distribution;
  for (const auto& [value, probability] : points) {
    distribution.values.push_back(value);
    distribution.probabilities.push_back(probability);
  }
  return distribution;
}

double probability_of_ratio_up_to(double limit, const Distribution& numerator,
                                  const Distribution& denominator) {
  double sum = 0.0;
  double below = 0.0;  // P(numerator <= limit * denominator), as the denominator grows
  std::size_t next = 0;
  for (std::size_t i = 0; i < denominator.values.size(); ++i) {
    const double most = limit * denominator.values[i];
    while (next < numerator.values.size() && numerator.values[next] <= most) {
      below += numerator.probabilities[next++];
    }
    sum += denominator.probabilities[i] * below;
  }
  return sum;
}

double ratio_quantile(double share, const Distribution& numerator,
                      const Distribution& denominator) {
  double low = numerator.values.front() / denominator.values.back() * (1.0 - 1e-12);
  double high = numerator.values.back() / denominator.values.front() * (1.0 + 1e-12);
  while (high - low > 1e-8 * high) {
    const double middle = 0.5 * (low + high);
    (probability_of_ratio_up_to(middle, numerator, denominator) < share ? low : high) = middle;
  }
  return high;
}

void require_positive(std::span<const double> sorted) {
  if (sorted.empty()) throw Error("a ratio of medians of no values");
  if (!(sorted.front() > 0.0) || !std::isfinite(sorted.back())) {
    throw Error("a ratio of medians needs values above 0, not {} to {}", sorted.front(),
                sorted.back());
  }
}

}  // namespace

std::vector<MedianPlace> resampled_median(std::size_t n) {
  if (n == 0) throw Error("a resampled median of no values");
  std::vector<MedianPlace> places;
  double total = 0.0;
  const auto add = [&](std::size_t low, std::size_t high, double probability) {
    if (probability < negligible) return;
    places.push_back({low - 1, high - 1, probability});
    total += probability;
  };
  const std::size_t m = (n + 1) / 2;
  const Middles middles_are(m);
  const std::vector<double> up_to = at_least(n, m);
  for (std::size_t i = 1; i <= n; ++i) {
    double left = up_to[i] - up_to[i - 1];  // P(the m-th smallest draw is the i-th value)
    for (std::size_t j = i + 1; n % 2 == 0 && j <= n; ++j) {
      const double both = middles_are(i, j);
      add(i, j, both);
      left -= both;
    }
    add(i, i, left);
  }
  for (MedianPlace& place : places) place.probability /= total;
  return places;
}

std::vector<Split> splits(std::size_t n, std::uint64_t seed) {
  if (n < 2) throw Error("{} values cannot be dealt into two halves", n);
  std::vector<bool> in_first(n, false);
  std::fill(in_first.end() - static_cast<std::ptrdiff_t>(n / 2), in_first.end(), true);
  std::vector<Split> found;
  const std::size_t half = n / 2;
  const double ways = std::exp(log_binomial(static_cast<double>(n), static_cast<double>(half)));
  if (ways <= static_cast<double>(most_splits) + 0.5) {
    do {
      found.push_back(split_by(in_first));
    } while (std::next_permutation(in_first.begin(), in_first.end()));
    return found;
  }
  std::mt19937_64 random(seed);
  while (found.size() < most_splits) {
    std::shuffle(in_first.begin(), in_first.end(), random);
    found.push_back(split_by(in_first));
  }
  return found;
}

Interval MedianRatio::interval(std::span<const double> numerator,
                               std::span<const double> denominator, double confidence) {
  require_positive(numerator);
  require_positive(denominator);
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw Error("a confidence must be between 0 and 1, not {}", confidence);
  }
  const auto places = [&](std::size_t n) -> const std::vector<MedianPlace>& {
    std::vector<MedianPlace>& kept = places_[n];
    if (kept.empty()) kept = resampled_median(n);
    return kept;
  };
  const Distribution above = medians_of(numerator, places(numerator.size()));
  const Distribution below = medians_of(denominator, places(denominator.size()));
  const double tail = 0.5 * (1.0 - confidence);
  return {ratio_quantile(tail, above, below), ratio_quantile(1.0 - tail, above, below)};
}

double MedianRatio::self_spread(std::span<const double> sorted) {
  require_positive(sorted);
  if (sorted.size() < 2) return 0.0;
  std::vector<Split>& kept = splits_[sorted.size()];
  if (kept.empty()) kept = splits(sorted.size(), sorted.size());
  std::vector<double> differences;
  differences.reserve(kept.size());
  for (const Split& split : kept) {
    const double a = value_at(sorted, split.first);
    const double b = value_at(sorted, split.second);
    differences.push_back(std::max(a, b) / std::min(a, b) - 1.0);
  }
  const auto at =
      differences.begin() +
      static_cast<std::ptrdiff_t>(spread_share * static_cast<double>(differences.size() - 1));
  std::nth_element(differences.begin(), at, differences.end());
  return *at;
}

}  // namespace fusebench
