// How a configuration reaches a kernel.
#pragma once

#include <span>
#include <string>

#include "harness/core/kernel.hpp"
#include "harness/core/parameters.hpp"

namespace fusebench {

/// Adds a macro for each parameter, its name in capitals: block_size=256 is -DBLOCK_SIZE=256. But none for
/// those in `except`, for which no kernel need be compiled anew.
void add_macros(KernelSpec& spec, const Configuration& configuration,
                std::span<const std::string> except = {});

}  // namespace fusebench
