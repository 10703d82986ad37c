// Does the clock that the candidate's process read agree with ours?
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace fusebench {

/// A burst of calls as the judge's own clock saw it, from the order to the answer that everything on the
/// device is done.
struct Burst {
  double wall_ns = 0.0;      ///< by the judge's clock
  double reported_ns = 0.0;  ///< for one call, by the candidate's process
};

inline constexpr double clock_ratio_limit = 1.5;
/// A call may take as much longer by the wall: what a busy host's clock errs.
inline constexpr double clock_slack_ns = 20'000.0;

/// Runs bursts of one call and of `count` until, in one of `tries`, the difference of the wall times is no
/// more than (count - 1) (1.5 reported + slack_ns); nullopt then. Otherwise why the reported times cannot be
/// believed: work that events did not see, or events that were not read.
[[nodiscard]] std::optional<std::string> clocks_disagree(
    const std::function<Burst(int count)>& burst, int count, double slack_ns, int tries = 5);

}  // namespace fusebench
