// The space of a registered variant's parameters.
#pragma once

#include "harness/core/parameters.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

/// Every valid configuration; values that are whole numbers are so in the space, which makes them ordinal where they are in
/// order. SearchSpace::to_string gives what Configuration::to_string does. Throws Error
/// where there are no parameters.
[[nodiscard]] SearchSpace variant_space(const ParameterSpace& parameters);

}  // namespace fusebench
