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
  double wall_ns = 0.0;     ///< by the judge's, from its word to let the call run until all is done
  double claimed_ns = 0.0;  ///< by the candidate's process
};

/// Are the times believed whose median is `median_ns`? They are, and nullopt is returned, once the judge saw a call take
/// no more than 1.5 times the median and `slack_ns`; or, since a host may have become slower meanwhile or be slow to
/// wake anyone, when at least half of the calls took no more than 1.5 times their own claim and the slack: a process that
/// lies about so few does not shift the median. Looks at `calls`, then at up to `more` that `next()` makes. Otherwise
/// why not: work that the clock did not see, or a clock that was not read.
[[nodiscard]] std::optional<std::string> clocks_disagree(std::vector<TwiceTimed> calls,
                                                         const std::function<TwiceTimed()>& next,
                                                         double median_ns, double slack_ns,
                                                         int more = 9);

}  // namespace fusebench
