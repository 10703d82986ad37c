// Iterated local search.
#include <algorithm>

#include "harness/tune/procedure.hpp"
#include "harness/tune/search_moves.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

class LocalSearch final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  // From a random start down to where no neighbour is faster; then from beside the best, or now and then from
  // elsewhere, since the best may stand in the wrong valley.
  Procedure search() override {
    while (!memory().fresh().empty()) {
      std::size_t at = memory().random_fresh(random());
      if (memory().best() && random().chance(0.7)) {
        const auto beside = shaken(space(), *memory().best(), 2 + random().below(2), random());
        if (beside && memory().is_fresh(*beside)) at = *beside;
      }
      double time = co_await measured(at);
      for (bool descended = true; descended;) {
        descended = false;
        std::vector<std::size_t> neighbours = space().neighbours(at);
        shuffle(neighbours, random());
        for (const std::size_t neighbour : neighbours) {
          const double other = co_await measured(neighbour);
          if (!(other < time)) continue;
          at = neighbour;
          time = other;
          descended = true;
          break;
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Strategy> make_local(const SearchSpace& space, const StrategyOptions& options) {
  return std::make_unique<LocalSearch>(space, options);
}

}  // namespace fusebench
