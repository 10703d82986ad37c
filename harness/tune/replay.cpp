#include "harness/tune/replay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "harness/core/error.hpp"

namespace fusebench {
namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

Yardstick::Yardstick(const RecordedSpace& recorded, double cutoff,
                     std::optional<std::size_t> draws) {
  if (!(cutoff > 0.0 && cutoff < 1.0)) {
    throw Error("the cutoff is {}; it must lie between 0 and 1", cutoff);
  }
  if (draws && *draws == 0) throw Error("a budget of 0 draws finds nothing");
  std::vector<double> costs;
  for (const Observation& observation : recorded.observations) {
    costs.push_back(observation.cost_ns());
    if (observation.passed()) worst_first_.push_back(observation.time_ns);
  }
  draw_cost_ns_ = median_of(costs);
  median_ns_ = median_of(worst_first_);
  std::sort(worst_first_.begin(), worst_first_.end(), std::greater<>());
  const double near_enough = optimum_ns() + (median_ns_ - optimum_ns()) * (1.0 - cutoff);
  const auto first = std::find_if(worst_first_.begin(), worst_first_.end(),
                                  [&](double time) { return time <= near_enough; });
  const auto i = static_cast<std::size_t>(first - worst_first_.begin());
  const std::size_t rest = worst_first_.size() + 1 - i;
  draws_ = draws.value_or(std::max<std::size_t>(1, (i + rest - 1) / rest));
}

double Yardstick::random_ns(std::size_t draws) const {
  const auto n = static_cast<double>(worst_first_.size());
  const auto m = static_cast<double>(draws);
  const auto place = static_cast<std::size_t>(std::llround(m * (n + 1.0) / (m + 1.0)));
  return worst_first_[std::min(place, worst_first_.size() - 1)];
}

double Yardstick::gain(std::size_t draws, double found_ns) const {
  const double random = random_ns(draws);
  if (random > optimum_ns()) return (random - found_ns) / (random - optimum_ns());
  return found_ns <= optimum_ns() ? 1.0 : 0.0;
}

bool Yardstick::is_too_near(std::size_t draws) const {
  const double above = random_ns(draws) - optimum_ns();
  return above > 0.0 && above < least_margin * (median_ns_ - optimum_ns());
}

std::optional<std::size_t> Yardstick::too_near_after() const {
  for (std::size_t draw = 1; draw <= draws_; ++draw) {
    if (is_too_near(draw)) return draw;
  }
  return std::nullopt;
}

double Yardstick::score(const std::vector<double>& found_ns) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < found_ns.size(); ++i) sum += gain(i + 1, found_ns[i]);
  return sum / static_cast<double>(found_ns.size());
}

ReplayRun replay(const RecordedSpace& recorded, const Yardstick& yardstick,
                 std::string_view strategy, std::uint64_t seed) {
  const std::size_t draws = yardstick.budget_draws();
  const auto searching = make_strategy(strategy, recorded.space, {.seed = seed, .budget = draws});
  ReplayRun run;
  double best = yardstick.median_ns();
  bool any = false;
  double spent = 0.0;  // in draws' costs
  while (run.by_draws_ns.size() < draws || run.by_cost_ns.size() < draws) {
    const auto index =
        run.by_draws_ns.empty() && recorded.begin ? recorded.begin : searching->ask();
    if (!index) break;
    const Observation& observation = recorded.observations[*index];
    const bool has_costs = yardstick.draw_cost_ns() > 0.0;
    spent += has_costs ? observation.cost_ns() / yardstick.draw_cost_ns() : 1.0;
    // What is found counts from when it is paid for.
    while (run.by_cost_ns.size() < draws &&
           static_cast<double>(run.by_cost_ns.size() + 1) < spent) {
      run.by_cost_ns.push_back(best);
    }
    if (observation.passed()) {
      best = any ? std::min(best, observation.time_ns) : observation.time_ns;
      any = true;
    }
    if (run.by_draws_ns.size() < draws) run.by_draws_ns.push_back(best);
    searching->tell(*index,
                    observation.passed() ? std::optional(observation.time_ns) : std::nullopt);
  }
  run.by_draws_ns.resize(draws, best);
  run.by_cost_ns.resize(draws, best);
  return run;
}

Estimate estimate(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Estimate result;
  for (const double value : values) result.mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.standard_error = std::sqrt(squares / (count - 1.0) / count);
  return result;
}

StrategyScore score_strategy(const RecordedSpace& recorded, const Yardstick& yardstick,
                             const std::string& strategy, std::size_t repeats, std::uint64_t seed) {
  if (repeats == 0) throw Error("a score needs at least one repeat");
  StrategyScore result;
  result.strategy = strategy;
  result.mean_found_ns.resize(yardstick.budget_draws(), 0.0);
  std::mt19937_64 seeds(seed);  // seeds beside one another would share runs
  std::vector<double> by_draws;
  std::vector<double> by_cost;
  for (std::size_t i = 0; i < repeats; ++i) {
    const ReplayRun run = replay(recorded, yardstick, strategy, seeds());
    by_draws.push_back(yardstick.score(run.by_draws_ns));
    by_cost.push_back(yardstick.score(run.by_cost_ns));
    result.found_ns.push_back(run.by_draws_ns.back());
    result.worst_found_ns = std::max(result.worst_found_ns, run.by_draws_ns.back());
    for (std::size_t k = 0; k < run.by_draws_ns.size(); ++k) {
      result.mean_found_ns[k] += run.by_draws_ns[k] / static_cast<double>(repeats);
    }
  }
  result.by_draws = estimate(by_draws);
  result.by_cost = estimate(by_cost);
  return result;
}

}  // namespace fusebench
