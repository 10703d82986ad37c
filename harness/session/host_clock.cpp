#include "harness/session/host_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace fusebench {

std::optional<std::string> clocks_disagree(std::vector<TwiceTimed> calls,
                                           const std::function<TwiceTimed()>& next,
                                           double median_ns, double slack_ns, int more) {
  const auto within = [&](const TwiceTimed& call, double ns) {
    return call.wall_ns <= clock_ratio_limit * ns + slack_ns;
  };
  // A busy host makes a wall time longer, never shorter.
  const auto is_fast = [&](const TwiceTimed& call) { return within(call, median_ns); };
  if (std::any_of(calls.begin(), calls.end(), is_fast)) return std::nullopt;
  for (int i = 0; i < more; ++i) {
    calls.push_back(next());
    if (is_fast(calls.back())) return std::nullopt;
  }
  const auto as_claimed = std::count_if(calls.begin(), calls.end(), [&](const TwiceTimed& call) {
    return within(call, call.claimed_ns);
  });
  if (2 * static_cast<std::size_t>(as_claimed) >= calls.size()) return std::nullopt;
  const auto best = std::min_element(
      calls.begin(), calls.end(),
      [](const TwiceTimed& a, const TwiceTimed& b) { return a.wall_ns < b.wall_ns; });
  return fmt::format(
      "a call takes {:.0f} ns by the judge's clock, {:.0f} ns by its own: part of the "
      "work escapes the clock",
      best->wall_ns, median_ns);
}

}  // namespace fusebench
