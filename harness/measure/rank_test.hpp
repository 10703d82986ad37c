// The Mann-Whitney test: do two samples come from one distribution?
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace fusebench {

struct RankTestResult {
  double u = 0.0;      ///< pairs in which the first sample's value is larger, ties counting half
  double p = 1.0;      ///< two-sided
  bool exact = false;  ///< by counting, not by the normal distribution
};

/// Mann and Whitney, On a Test of Whether one of Two Random Variables is Stochastically Larger than the
/// Other (1947). Small samples are counted out: of all ways to deal the values, how many have such a
/// rank sum (p is twice the smaller tail, 1 at most); with ties by mid-ranks. Larger ones take the normal
/// distribution with corrections for ties and continuity, as scipy's method "asymptotic". It keeps what it has
/// counted for the next series of the same sizes.
class RankTest {
 public:
  /// Exact without ties up to this many values a sample, with ties up to this many of both together.
  static constexpr std::size_t exact_without_ties = 50;
  static constexpr std::size_t exact_with_ties = 24;

  /// Throws Error when a sample is empty or has a NaN. Infinities are largest.
  RankTestResult operator()(std::span<const double> first, std::span<const double> second);

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> counts_;
};

}  // namespace fusebench
