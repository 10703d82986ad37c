// Runs a strategy on a recorded space, charging what each configuration cost its recorder; and the score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/tune/recorded_space.hpp"
#include "harness/tune/strategy.hpp"

namespace fusebench {

/// What all strategies on one recorded space are compared by, after Willemsen et al., "A Methodology for
/// Comparing Auto-Tuning Optimization Algorithms".
class Yardstick {
 public:
  /// `cutoff` is the methodology's p: the budget is what random search is expected to need to come so near
  /// to the optimum, as a fraction of the way from the median, unless `draws` says another. Throws Error
  /// unless the cutoff is between 0 and 1 and the draws are at least 1.
  explicit Yardstick(const RecordedSpace& recorded, double cutoff = 0.95,
                     std::optional<std::size_t> draws = std::nullopt);

  /// The fastest and the median time of those that passed.
  [[nodiscard]] double optimum_ns() const { return worst_first_.back(); }
  [[nodiscard]] double median_ns() const { return median_ns_; }
  /// M = ceil(i / (N + 1 - i)), i being the first place, counted from 0, in the times of the N that passed,
  /// sorted worst to best, where the time is at most optimum + (median - optimum)(1 - cutoff). At least 1.
  [[nodiscard]] std::size_t budget_draws() const { return draws_; }
  /// What a draw is charged: the median cost of a configuration; 0 where the file has no costs.
  [[nodiscard]] double draw_cost_ns() const { return draw_cost_ns_; }
  /// The best that random search is expected to have after so many draws: the time at place
  /// round(M (N + 1) / (M + 1)), counted as above, or at the last.
  [[nodiscard]] double random_ns(std::size_t draws) const;
  /// (random - found) / (random - optimum) after so many draws; where random search is expected to have the
  /// optimum, 1 for the optimum itself and 0 otherwise.
  [[nodiscard]] double gain(std::size_t draws, double found_ns) const;
  /// The first draw of the budget after which random search is expected nearer to the optimum than `least_margin` of the way
  /// to the median, without having it: a gain over so little is noise, and of such a budget there is no score.
  static constexpr double least_margin = 0.005;
  [[nodiscard]] std::optional<std::size_t> too_near_after() const;
  [[nodiscard]] bool is_too_near(std::size_t draws) const;
  /// The mean gain of the fastest times found after 1, 2, ... draws.
  [[nodiscard]] double score(const std::vector<double>& found_ns) const;

 private:
  std::vector<double> worst_first_;
  double median_ns_ = 0.0;
  std::size_t draws_ = 1;
  double draw_cost_ns_ = 0.0;
};

/// One search: the fastest time found after each draw of the budget. Before anything has passed that is the
/// median, where a first draw is expected to be.
struct ReplayRun {
  std::vector<double> by_draws_ns;  ///< each configuration charged as one draw: the methodology's
  std::vector<double> by_cost_ns;   ///< each charged its own recorded cost, in draws' costs
};

/// Goes on until the budget is spent by either count. Throws Error as make_strategy() does.
[[nodiscard]] ReplayRun replay(const RecordedSpace& recorded, const Yardstick& yardstick,
                               std::string_view strategy, std::uint64_t seed);

/// A mean over runs with its standard error, which is 0 for a single run.
struct Estimate {
  double mean = 0.0;
  double standard_error = 0.0;
};
[[nodiscard]] Estimate estimate(const std::vector<double>& values);

struct StrategyScore {
  std::string strategy;
  Estimate by_draws;                  ///< P
  Estimate by_cost;                   ///< P with each configuration's own cost
  std::vector<double> mean_found_ns;  ///< over the runs, after 1, 2, ... draws
  double worst_found_ns = 0.0;        ///< of the runs, at the end of the budget
  std::vector<double> found_ns;       ///< of each run, at the end of the budget
};

/// The runs' seeds are drawn by `seed`. Throws Error when there are no runs.
[[nodiscard]] StrategyScore score_strategy(const RecordedSpace& recorded,
                                           const Yardstick& yardstick, const std::string& strategy,
                                           std::size_t repeats, std::uint64_t seed);

}  // namespace fusebench
