// A genetic algorithm with a steady state: each child that is fitter takes the place of the least fit.
#include <algorithm>

#include "harness/tune/procedure.hpp"
#include "harness/tune/search_moves.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

class Genetic final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  struct Individual {
    std::size_t index = 0;
    double time = SearchMemory::failed;
  };

  // Small budgets cannot feed a large population.
  [[nodiscard]] std::size_t population_size() const {
    const std::size_t budget = options().budget > 0 ? options().budget : space().size() / 10;
    return std::clamp<std::size_t>(budget / 8, 4, 20);
  }

  const Individual& fitter_of_two(const std::vector<Individual>& population) {
    const Individual& a = population[random().below(population.size())];
    const Individual& b = population[random().below(population.size())];
    return a.time <= b.time ? a : b;
  }

  Procedure search() override {
    std::vector<Individual> population;
    while (population.size() < population_size() && !memory().fresh().empty()) {
      const std::size_t index = memory().random_fresh(random());
      population.push_back({index, co_await measured(index)});
    }
    while (!memory().fresh().empty()) {
      const Individual mother = fitter_of_two(population);
      const Individual father = fitter_of_two(population);
      const auto child = fresh_child(space(), memory(), mother.index, father.index, random());
      const std::size_t index = child.value_or(memory().random_fresh(random()));
      const double time = co_await measured(index);
      const auto worst = std::max_element(
          population.begin(), population.end(),
          [](const Individual& a, const Individual& b) { return a.time < b.time; });
      if (time < worst->time) *worst = {index, time};
    }
  }
};

}  // namespace

std::unique_ptr<Strategy> make_genetic(const SearchSpace& space, const StrategyOptions& options) {
  return std::make_unique<Genetic>(space, options);
}

}  // namespace fusebench
