// Exhaustive and random search: the two ends that the others are held against.
#include "harness/tune/procedure.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

class Exhaustive final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  Procedure search() override {
    for (std::size_t index = 0; index < space().size(); ++index) co_await measured(index);
  }
};

class Random final : public ProcedureStrategy {
 public:
  using ProcedureStrategy::ProcedureStrategy;

 private:
  Procedure search() override { co_return; }  // what follows a procedure's end is drawn at random
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space,
                                          const StrategyOptions& options) {
  return std::make_unique<Exhaustive>(space, options);
}

std::unique_ptr<Strategy> make_random(const SearchSpace& space, const StrategyOptions& options) {
  return std::make_unique<Random>(space, options);
}

}  // namespace fusebench
