// One function a strategy; strategy.cpp knows them by name.
#pragma once

#include <memory>

#include "harness/tune/strategy.hpp"

namespace fusebench {

[[nodiscard]] std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space,
                                                        const StrategyOptions& options);
[[nodiscard]] std::unique_ptr<Strategy> make_random(const SearchSpace& space,
                                                    const StrategyOptions& options);
[[nodiscard]] std::unique_ptr<Strategy> make_local(const SearchSpace& space,
                                                   const StrategyOptions& options);
[[nodiscard]] std::unique_ptr<Strategy> make_annealing(const SearchSpace& space,
                                                       const StrategyOptions& options);
[[nodiscard]] std::unique_ptr<Strategy> make_genetic(const SearchSpace& space,
                                                     const StrategyOptions& options);
[[nodiscard]] std::unique_ptr<Strategy> make_model(const SearchSpace& space,
                                                   const StrategyOptions& options);

}  // namespace fusebench
