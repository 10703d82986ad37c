#include "harness/measure/contest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

void check(const std::vector<std::vector<double>>& times_ns) {
  if (times_ns.empty() || times_ns.front().empty()) {
    throw Error("a contest needs candidates and rounds");
  }
  for (const auto& times : times_ns) {
    if (times.size() != times_ns.front().size()) {
      throw Error("a contest's candidates need as many rounds, not {} and {}",
                  times_ns.front().size(), times.size());
    }
    for (const double time : times) {
      if (!(time > 0.0) || !std::isfinite(time)) throw Error("{} ns is no time above 0", time);
    }
  }
}

}  // namespace

ContestResult decide_contest(const std::vector<std::vector<double>>& times_ns) {
  check(times_ns);
  const std::size_t rounds = times_ns.front().size();
  std::vector<double> level(rounds, 0.0);  // logarithm of each round's geometric mean
  for (const auto& times : times_ns) {
    for (std::size_t r = 0; r < rounds; ++r) {
      level[r] += std::log(times[r]) / static_cast<double>(times_ns.size());
    }
  }
  std::vector<double> scores;
  for (const auto& times : times_ns) {
    std::vector<double> relative;
    for (std::size_t r = 0; r < rounds; ++r) relative.push_back(std::log(times[r]) - level[r]);
    scores.push_back(median(sorted(relative)));
  }
  ContestResult result;
  result.winner =
      static_cast<std::size_t>(std::min_element(scores.begin(), scores.end()) - scores.begin());
  const std::vector<double>& best = times_ns[result.winner];
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < rounds; ++r) ratios.push_back(times_ns[i][r] / best[r]);
    ratios = sorted(ratios);
    Standing standing{.median_ns = median(sorted(times_ns[i])),
                      .ratio = median(ratios),
                      .interval = median_interval(ratios)};
    standing.tied = i != result.winner && standing.interval.low <= 1.0;
    result.standings.push_back(standing);
  }
  return result;
}

std::vector<std::size_t> within_noise(std::span<const double> medians_ns,
                                      std::span<const Interval> intervals_ns, double slack,
                                      std::size_t most) {
  std::vector<std::size_t> order(medians_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return medians_ns[a] < medians_ns[b]; });
  if (order.empty()) return order;
  const double top = intervals_ns[order.front()].high * slack;
  std::erase_if(order, [&](std::size_t i) { return intervals_ns[i].low > top; });
  if (order.size() > most) order.resize(most);
  return order;
}

}  // namespace fusebench
