#include "harness/session/host_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace fusebench {

std::optional<std::string> clocks_disagree(std::vector<TwiceTimed> calls,
                                           const std::function<TwiceTimed()>& next,
                                           double median_ns, double slack_ns, int more) {
  const auto within = [&](double took_ns, double ns) {
    return took_ns <= clock_ratio_limit * ns + slack_ns;
  };
  // A busy host makes a way longer, never shorter, and what is taken off for one that it stumbled on hides work.
  const auto shortest_way_ns = [&] {
    return std::ranges::min(calls, {}, &TwiceTimed::way_ns).way_ns;
  };
  const auto is_fast = [&](const TwiceTimed& call) {
    return within(call.wall_ns - shortest_way_ns(), std::min(median_ns, call.claimed_ns));
  };
  if (std::ranges::any_of(calls, is_fast)) return std::nullopt;
  for (int i = 0; i < more; ++i) {
    calls.push_back(next());
    if (std::ranges::any_of(calls, is_fast)) return std::nullopt;
  }
  const double longest_way_ns = 2 * shortest_way_ns();
  const auto as_claimed = std::ranges::count_if(calls, [&](const TwiceTimed& call) {
    return within(call.wall_ns - std::min(call.way_ns, longest_way_ns), call.claimed_ns);
  });
  if (2 * static_cast<std::size_t>(as_claimed) >= calls.size()) return std::nullopt;
  return fmt::format(
      "a call takes {:.0f} ns by the judge's clock, {:.0f} ns by its own: part of the "
      "work escapes the clock",
      std::ranges::min(calls, {}, &TwiceTimed::wall_ns).wall_ns - shortest_way_ns(), median_ns);
}

}  // namespace fusebench
