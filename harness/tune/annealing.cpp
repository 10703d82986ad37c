// Simulated annealing over the ratio of times, so that a temperature means the same for every kernel.
#include <algorithm>
#include <cmath>

#include "harness/tune/procedure.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

class Annealing final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  static constexpr double hot = 0.5;     // a neighbour half again as slow is often accepted
  static constexpr double cold = 0.002;  // a fifth of a percent is noise

  // It cools with what was measured: geometrically over the budget, or a tenth of the space without one.
  [[nodiscard]] double temperature() const {
    const std::size_t budget = options().budget > 0 ? options().budget : space().size() / 10 + 1;
    const double done = static_cast<double>(memory().known().size()) / static_cast<double>(budget);
    return hot * std::pow(cold / hot, std::min(done, 1.0));
  }

  Procedure search() override {
    constexpr int patience =
        200;  // steps over known ground, which cost nothing and may go round for ever
    while (!memory().fresh().empty()) {
      std::size_t at = memory().random_fresh(random());
      double time = co_await measured(at);
      for (int idle = 0; idle < patience;) {
        const std::vector<std::size_t> neighbours = space().neighbours(at);
        if (neighbours.empty()) break;
        const std::size_t next = neighbours[random().below(neighbours.size())];
        idle = memory().is_known(next) ? idle + 1 : 0;
        const double other = co_await measured(next);
        const bool either = other < time || time == SearchMemory::failed;
        if (either || random().chance(std::exp(-std::log(other / time) / temperature()))) {
          at = next;
          time = other;
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Strategy> make_annealing(const SearchSpace& space, const StrategyOptions& options) {
  return std::make_unique<Annealing>(space, options);
}

}  // namespace fusebench
