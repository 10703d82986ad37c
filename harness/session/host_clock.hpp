// Does the clock that the candidate's process read agree with ours?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fusebench {

inline constexpr double clock_ratio_limit = 1.5;

/// One call by two clocks, in nanoseconds.
struct TwiceTimed {
  double wall_ns =
      0.0;  ///< by the judge's, from its word to let the call run to the answer that all is done
  double way_ns = 0.0;      ///< the same for no call at all, right before
  double claimed_ns = 0.0;  ///< by the candidate's process
};

/// Are the times believed whose median is `median_ns`? They are, and nullopt is returned, once a call took no more than
/// 1.5 times what its process claimed, and no more than 1.5 times the median, each with `slack_ns`, less the shortest of
/// all ways: one that the host stumbled on makes no allowance. Or, since a host may have become slower meanwhile, when at
/// least half of the calls, each less its own way or twice the shortest, took no more than 1.5 times their own claim and
/// the slack: a process that lies about so few does not shift the median. Looks at `calls`, then at up to `more` (at
/// least 1) that `next()` makes. Otherwise why not: work that the clock did not see, or a clock that was not read.
[[nodiscard]] std::optional<std::string> clocks_disagree(std::vector<TwiceTimed> calls,
                                                         const std::function<TwiceTimed()>& next,
                                                         double median_ns, double slack_ns,
                                                         int more = 9);

}  // namespace fusebench
