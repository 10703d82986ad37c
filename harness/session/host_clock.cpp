#include "harness/session/host_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fusebench {

std::optional<std::string> clocks_disagree(const std::function<Burst(int)>& burst, int count,
                                           double slack_ns, int tries) {
  double best = std::numeric_limits<double>::infinity();
  double reported = 0.0;
  for (int i = 0; i < tries; ++i) {
    const Burst one = burst(1);
    const Burst many = burst(count);
    const double each = (many.wall_ns - one.wall_ns) / (count - 1);
    if (each <= clock_ratio_limit * many.reported_ns + slack_ns) return std::nullopt;
    if (each < best) {
      best = each;
      reported = many.reported_ns;
    }
  }
  return fmt::format("the device was busy for {:.0f} ns a call by the judge's clock, {:.0f} ns by "
                     "its own: part of the work escapes the clock",
                     best, reported);
}

}  // namespace fusebench
