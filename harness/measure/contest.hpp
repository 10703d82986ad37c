// Which of several candidates is the fastest, from rounds in which each was measured once, one after another: what
// drifts between rounds falls out of the ratios within one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/measure/statistics.hpp"

namespace fusebench {

struct Standing {
  double median_ns = 0.0;  ///< over the rounds
  double ratio = 1.0;  ///< median over the rounds of its time over the winner's in the same round
  Interval interval{1.0, 1.0};  ///< of that median, at 95% and more (median_interval)
  bool tied = false;  ///< the interval does not exclude 1: it may be as fast as the winner
};

struct ContestResult {
  std::size_t winner = 0;
  std::vector<Standing>
      standings;  ///< in the order of the candidates; the winner's ratio is 1, and it is not tied
};

/// times_ns[candidate][round], each above 0, the same number of rounds for all. The winner has the smallest median, over the
/// rounds, of its time over the round's geometric mean; of equals the first. Fewer than six rounds tell little: the
/// interval is then the whole range. Throws Error without candidates or rounds, and for a time that is not above 0.
[[nodiscard]] ContestResult decide_contest(const std::vector<std::vector<double>>& times_ns);

/// The candidates that may be the fastest, fastest first, at most `most` of them: those whose interval reaches down to
/// `slack` times the top of the fastest one's. Both vectors are by candidate.
[[nodiscard]] std::vector<std::size_t> within_noise(std::span<const double> medians_ns,
                                                    std::span<const Interval> intervals_ns,
                                                    double slack, std::size_t most);

}  // namespace fusebench
