// Does the clock that the candidate's process read agree with ours?
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace fusebench {

inline constexpr double clock_ratio_limit = 1.5;

/// `wall_ns()` is how long one more cold call took by the judge's clock, from its word to let the
/// call run until the answer that everything on the device is done. At most `tries` calls:
/// nullopt as soon as one took no more than 1.5 times the `median_ns` that was reported, and `slack_ns`.
/// Otherwise why the reported times cannot be believed: work that the clock did not
/// see, or a clock that was not read.
[[nodiscard]] std::optional<std::string> clocks_disagree(const std::function<double()>& wall_ns,
                                                         double median_ns, double slack_ns,
                                                         int tries = 10);

}  // namespace fusebench
