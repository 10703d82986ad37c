// The strip kernel's plan (wgmma_strips.cuh).
#pragma once

#include <memory>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {

/// The module must hold the kernels `pack`, `convolve_whole` and `convolve_any`; the configuration `groups`, the
/// warpgroups of a block. Throws Unavailable where an item of the batch is too large or the device's shared memory too
/// small.
[[nodiscard]] std::unique_ptr<Plan> plan_strips(const CudaRequest& request);

}  // namespace fusebench::conv_transpose3d_residual
