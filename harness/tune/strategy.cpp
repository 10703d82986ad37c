#include "harness/tune/strategy.hpp"

#include <fmt/ranges.h>

#include <array>

#include "harness/core/error.hpp"
#include "harness/tune/strategy_makers.hpp"

namespace fusebench {
namespace {

using Maker = std::unique_ptr<Strategy> (*)(const SearchSpace&, const StrategyOptions&);

struct Known {
  StrategyInfo info;
  Maker make;
};

constexpr std::array<Known, 6> known = {{
    {{"model", "a Gaussian process predicts times; what promises the largest gain is next"},
     make_model},
    {{"genetic", "recombines and mutates the fittest of a population"}, make_genetic},
    {{"annealing", "a walk that accepts slower neighbours ever more rarely"}, make_annealing},
    {{"local", "descends to a local optimum and starts again beside the best"}, make_local},
    {{"random", "each configuration as likely: what others are compared with", false}, make_random},
    {{"exhaustive", "every configuration in the order of the space", false}, make_exhaustive},
}};

}  // namespace

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> infos = [] {
    std::vector<StrategyInfo> all;
    for (const Known& strategy : known) all.push_back(strategy.info);
    return all;
  }();
  return infos;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const SearchSpace& space,
                                        const StrategyOptions& options) {
  std::vector<const char*> names;
  for (const Known& strategy : known) {
    if (name == strategy.info.name) return strategy.make(space, options);
    names.push_back(strategy.info.name);
  }
  throw Error("no strategy '{}'; there is: {}", name, fmt::join(names, ", "));
}

}  // namespace fusebench
