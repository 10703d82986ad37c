// Every combination of values that the constraints allow, by backtracking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/tune/search_space.hpp"

namespace fusebench {

/// The valid rows one after another, in no order that means anything. Parameters are bound in an order that
/// completes constraints early; a constraint prunes as soon as its parameters are bound, or as soon as the
/// bounds of those that are not yet leave it no way to hold. The time goes with the branches that survive,
/// not with the product of the numbers of values.
/// Throws Error as SearchSpace's constructor does, and when there are more than 2 * 10^7 valid rows.
[[nodiscard]] std::vector<std::uint16_t> enumerate(const std::vector<SpaceParameter>& parameters,
                                                   const std::vector<std::string>& constraints,
                                                   const Properties& properties);

}  // namespace fusebench
