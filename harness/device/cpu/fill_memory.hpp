// Inputs, poison and fingerprints in host memory, on all cores.
#pragma once

#include <cstdint>

#include "harness/device/device.hpp"

namespace fusebench {

/// Values 0..count-1 of the recipe in `stream`.
void generate_values(float* to, std::int64_t count, const InputRecipe& recipe,
                     std::uint64_t stream);
/// poison_bits(seed, i) in element i.
void poison_values(float* to, std::int64_t count, std::uint64_t seed);
[[nodiscard]] std::uint64_t fingerprint_of(const MemoryRange& range);

}  // namespace fusebench
