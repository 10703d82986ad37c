// The space of a registered variant's parameters.
#pragma once

#include "harness/core/parameters.hpp"
#include "harness/tune/search_space.hpp"

namespace fusebench {

/// Every valid configuration; values that are whole numbers are so in the space, which makes them ordinal where they are in
/// order. SearchSpace::to_string gives what Configuration::to_string does. Constraints count whose properties are
/// given, as with ParameterSpace::all. Throws Error where there are no parameters, and as SearchSpace's constructor.
[[nodiscard]] SearchSpace variant_space(const ParameterSpace& parameters,
                                        const Properties& properties = {});

/// The index of a configuration that Configuration::to_string has written; nothing where the space has none such.
[[nodiscard]] std::optional<std::size_t> index_of(const SearchSpace& space,
                                                  const std::string& configuration);

}  // namespace fusebench
