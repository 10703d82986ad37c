#include "harness/session/host_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fusebench {

std::optional<std::string> clocks_disagree(const std::function<double()>& wall_ns, double median_ns,
                                           double slack_ns, int tries) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    best = std::min(best, wall_ns());
    // A busy host makes a wall time longer, never shorter.
    if (best <= clock_ratio_limit * median_ns + slack_ns) return std::nullopt;
  }
  return fmt::format(
      "a call takes {:.0f} ns by the judge's clock, {:.0f} ns by its own: part of the "
      "work escapes the clock",
      best, median_ns);
}

}  // namespace fusebench
