#include "harness/measure/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

// Both samples ranked together. Ranks are doubled, so that the mean rank of a tie is whole.
struct Ranks {
  std::vector<std::size_t> doubled;  // in ascending order of the values
  std::size_t first_sum = 0;         // of the first sample's doubled ranks
  double tie_term = 0.0;             // sum over ties of t^3 - t
};

Ranks rank(std::span<const double> first, std::span<const double> second) {
  std::vector<std::pair<double, bool>> values;
  for (const double v : first) values.emplace_back(v, true);
  for (const double v : second) values.emplace_back(v, false);
  if (std::any_of(values.begin(), values.end(),
                  [](const auto& v) { return std::isnan(v.first); })) {
    throw Error("a rank test of a value that is NaN");
  }
  std::sort(values.begin(), values.end());
  Ranks ranks;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    while (end < values.size() && values[end].first == values[begin].first) ++end;
    const std::size_t doubled = begin + 1 + end;
    const auto t = static_cast<double>(end - begin);
    ranks.tie_term += t * t * t - t;
    for (; begin < end; ++begin) {
      ranks.doubled.push_back(doubled);
      if (values[begin].second) ranks.first_sum += doubled;
    }
  }
  return ranks;
}

// How many of the subsets of `size` ranks have each sum. Only additions of counts, so none cancels.
std::vector<double> subset_sums(std::span<const std::size_t> ranks, std::size_t size) {
  const std::size_t largest =
      std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(size), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> counts(size + 1, std::vector<double>(largest + 1));
  counts[0][0] = 1.0;
  std::size_t reached = 0;  // the largest sum so far
  for (std::size_t seen = 0; seen < ranks.size(); ++seen) {
    const std::size_t r = ranks[seen];
    reached = std::min(reached + r, largest);
    for (std::size_t k = std::min(size, seen + 1); k > 0; --k) {
      const std::vector<double>& from = counts[k - 1];
      std::vector<double>& to = counts[k];
      for (std::size_t sum = r; sum <= reached; ++sum) to[sum] += from[sum - r];
    }
  }
  return std::move(counts[size]);
}

double two_sided(std::span<const double> counts, std::size_t sum) {
  const auto at = counts.begin() + static_cast<std::ptrdiff_t>(sum);
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double below = std::accumulate(counts.begin(), at + 1, 0.0);
  const double above = std::accumulate(at, counts.end(), 0.0);
  return std::min(1.0, 2.0 * std::min(below, above) / total);
}

double normal_p(double u, double n1, double n2, double tie_term) {
  const double n = n1 + n2;
  const double deviation = std::sqrt(n1 * n2 / 12.0 * (n + 1.0 - tie_term / (n * (n - 1.0))));
  if (!(deviation > 0.0)) return 1.0;  // all values are one
  const double z = (std::max(u, n1 * n2 - u) - n1 * n2 / 2.0 - 0.5) / deviation;
  return std::min(1.0, std::erfc(z / std::sqrt(2.0)));
}

}  // namespace

RankTestResult RankTest::operator()(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) throw Error("a rank test of no values");
  const Ranks ranks = rank(first, second);
  const std::size_t n1 = first.size();
  const std::size_t n2 = second.size();
  const bool ties = ranks.tie_term > 0.0;
  RankTestResult result;
  result.u = static_cast<double>(ranks.first_sum - n1 * (n1 + 1)) / 2.0;
  result.exact = ties ? n1 + n2 <= exact_with_ties : std::max(n1, n2) <= exact_without_ties;
  if (!result.exact) {
    result.p = normal_p(result.u, static_cast<double>(n1), static_cast<double>(n2), ranks.tie_term);
    return result;
  }
  // Counting is quicker for the smaller sample, and tells the same.
  const std::size_t size = std::min(n1, n2);
  const std::size_t all =
      std::accumulate(ranks.doubled.begin(), ranks.doubled.end(), std::size_t{0});
  const std::size_t sum = n1 <= n2 ? ranks.first_sum : all - ranks.first_sum;
  if (ties) {
    result.p = two_sided(subset_sums(ranks.doubled, size), sum);
    return result;
  }
  std::vector<double>& counts = counts_[{size, n1 + n2}];
  if (counts.empty()) {
    std::vector<std::size_t> single(n1 + n2);
    std::iota(single.begin(), single.end(), std::size_t{1});
    counts = subset_sums(single, size);
  }
  result.p = two_sided(counts, sum / 2);
  return result;
}

}  // namespace fusebench
