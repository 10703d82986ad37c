// What a processor's cores compute when nothing keeps them waiting: the compute ceiling on a CPU.
#pragma once

#include <cstdint>

#include "harness/device/fma_control.hpp"

namespace fusebench {

/// Each of `count` floats of `from` through fma_steps fused multiply-adds, by `up` and `down` in turn, on one
/// thread; `to` and `from` are distinct. In the widest vectors the processor has, eight at a time, since an FMA
/// that takes four cycles on two units needs as many; in a build without Highway as the compiler makes it.
void fma_chains(float* to, const float* from, std::int64_t count, const FmaOperands& operands);

}  // namespace fusebench
