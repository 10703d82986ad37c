// Loading machine code through the driver API.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

#include "harness/device/cuda/cuda_device.hpp"

namespace fusebench {

/// Kernels of the module launch on `stream` and count in `launches`, which outlives them. Throws Error when the driver refuses the code.
[[nodiscard]] std::unique_ptr<CudaModule> load_cuda_module(const std::string& cubin,
                                                           CUstream stream, std::int64_t& launches);

}  // namespace fusebench
