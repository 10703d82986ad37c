// Bayesian optimisation: a Gaussian process predicts the logarithm of the time, and the largest expected
// improvement is next. Once there are so many points that predictions cost more than they tell, the search
// goes on around the best.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "harness/tune/gaussian_process.hpp"
#include "harness/tune/procedure.hpp"
#include "harness/tune/search_moves.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

// The values are those that did best on average over recorded and made-up spaces (docs/tuning.md); none
// matters much, and none was chosen for one space.
constexpr std::size_t first_points = 5;  // spread out, before there is a model
constexpr std::size_t rough_from =
    60;  // points from which smooth models are too sure of themselves
constexpr std::size_t most_points = 150;  // of a model
constexpr std::size_t refit_always = 40;  // up to so many points, where a fit costs little
constexpr double margin = 0.15;      // by which to improve, in standard deviations of the targets
constexpr double refit_after = 1.4;  // times as many points as at the last fit
constexpr std::size_t most_candidates = 4000;
constexpr double recombined = 0.3;  // share of the proposals after the model that are
constexpr std::size_t elite_size = 16;

double density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }
double cumulative(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

class ModelGuided final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  Procedure search() override {
    while (memory().known().size() < first_points && !memory().fresh().empty()) {
      co_await measured(spread_out());
    }
    GaussianProcess process(space());
    std::size_t next_fit = 0;
    while (!memory().fresh().empty() && memory().known().size() < most_points) {
      const std::vector<std::size_t> points = memory().known();
      const std::vector<double> y = targets(points);
      if (points.size() >= next_fit) {
        const double factor = points.size() < refit_always ? 1.0 : refit_after;
        next_fit = static_cast<std::size_t>(factor * static_cast<double>(points.size())) + 1;
        process.fit(points, y, points.size() >= rough_from);
        process.set_candidates(candidates());
      }
      while (process.points() < points.size()) process.add(points[process.points()]);
      co_await measured(most_promising(process, y));
    }
    while (!memory().fresh().empty()) {
      const std::vector<std::size_t> ranking = by_time();
      co_await measured(random().chance(recombined) ? child(ranking) : beside(ranking));
    }
  }

  // Of ten random ones the farthest from all that are known.
  std::size_t spread_out() {
    constexpr int draws = 10;
    std::size_t chosen = memory().random_fresh(random());
    double most = -1.0;
    for (int i = 0; i < draws; ++i) {
      const std::size_t drawn = memory().random_fresh(random());
      double nearest = std::numeric_limits<double>::max();
      for (const std::size_t point : memory().known()) {
        nearest = std::min(nearest, distance(drawn, point));
      }
      if (nearest <= most) continue;
      most = nearest;
      chosen = drawn;
    }
    return chosen;
  }

  // Summed over the parameters, each counting up to 1.
  [[nodiscard]] double distance(std::size_t one, std::size_t other) const {
    double sum = 0.0;
    for (std::size_t p = 0; p < space().parameters().size(); ++p) {
      const int apart = std::abs(space().row(one)[p] - space().row(other)[p]);
      const auto range = static_cast<double>(space().parameters()[p].values.size() - 1);
      sum += space().is_ordinal(p) ? static_cast<double>(apart) / range : std::min(apart, 1);
    }
    return sum;
  }

  // Standardised logarithms. The slow are drawn together, since how slow they are says little of where the
  // fast are; a failure is taken for one of them, as informative and as little worth.
  [[nodiscard]] std::vector<double> targets(const std::vector<std::size_t>& points) const {
    std::vector<double> logarithms;
    for (const std::size_t point : points) {
      const double time = memory().time_of(point);
      if (time != SearchMemory::failed) logarithms.push_back(std::log(time));
    }
    std::vector<double> y(points.size(), 0.0);
    if (logarithms.empty()) return y;
    std::sort(logarithms.begin(), logarithms.end());
    const double median = logarithms[logarithms.size() / 2];
    const double slow = logarithms[(logarithms.size() - 1) * 9 / 10];
    const double cap = median + 2.0 * (median - logarithms.front());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double time = memory().time_of(points[i]);
      y[i] = time == SearchMemory::failed ? slow : std::log(time);
      if (y[i] > cap) y[i] = cap + 0.1 * (y[i] - cap);
    }
    const double mean = mean_of(y);
    std::vector<double> squares;
    for (double& value : y) {
      value -= mean;
      squares.push_back(value * value);
    }
    const double deviation = std::sqrt(std::max(mean_of(squares), 1e-12));
    for (double& value : y) value /= deviation;
    return y;
  }

  // All that are left where they are few, else some of them and all beside the best.
  std::vector<std::size_t> candidates() {
    std::vector<std::size_t> chosen = memory().fresh();
    if (chosen.size() <= most_candidates) return chosen;
    shuffle(chosen, random());
    chosen.resize(most_candidates);
    if (memory().best()) {
      const std::vector<std::size_t> near = space().neighbours(*memory().best());
      chosen.insert(chosen.end(), near.begin(), near.end());
    }
    return chosen;
  }

  std::size_t most_promising(const GaussianProcess& process, const std::vector<double>& y) {
    const GaussianProcess::Prediction prediction = process.predict(y);
    const double best = *std::min_element(y.begin(), y.end());
    std::size_t chosen = memory().random_fresh(random());
    double most = 0.0;
    for (std::size_t i = 0; i < process.candidates().size(); ++i) {
      if (!memory().is_fresh(process.candidates()[i])) continue;
      const auto deviation = std::sqrt(static_cast<double>(prediction.variance[i]));
      const double z = (best - margin - static_cast<double>(prediction.mean[i])) / deviation;
      if (z < -6.0 && most > 0.0) continue;  // beyond hope, and costly to compute
      const double improvement = deviation * (z * cumulative(z) + density(z));
      if (improvement <= most) continue;
      most = improvement;
      chosen = process.candidates()[i];
    }
    return chosen;
  }

  [[nodiscard]] std::vector<std::size_t> by_time() const {
    std::vector<std::size_t> ranking = memory().known();
    std::stable_sort(ranking.begin(), ranking.end(), [this](std::size_t a, std::size_t b) {
      return memory().time_of(a) < memory().time_of(b);
    });
    return ranking;
  }

  // A fresh neighbour of the fastest that still has one.
  std::size_t beside(const std::vector<std::size_t>& ranking) {
    surrounded_.resize(space().size(), false);
    for (const std::size_t index : ranking) {
      if (surrounded_[index]) continue;
      std::vector<std::size_t> near = space().neighbours(index);
      std::erase_if(near, [this](std::size_t other) { return !memory().is_fresh(other); });
      if (!near.empty()) return near[random().below(near.size())];
      surrounded_[index] = true;
    }
    return memory().random_fresh(random());
  }

  std::size_t child(const std::vector<std::size_t>& ranking) {
    const std::size_t elite = std::min(ranking.size(), elite_size);
    const std::size_t mother = ranking[std::min(random().below(elite), random().below(elite))];
    const std::size_t father = ranking[random().below(elite)];
    const auto found = fresh_child(space(), memory(), mother, father, random());
    return found.value_or(memory().random_fresh(random()));
  }

  std::vector<bool> surrounded_;  // by what is not fresh, and so for ever
};

}  // namespace

std::unique_ptr<Strategy> make_model(const SearchSpace& space, const StrategyOptions& options) {
  return std::make_unique<ModelGuided>(space, options);
}

}  // namespace fusebench
