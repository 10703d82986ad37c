// The plan of a doubling kernel: pack the weights, then double.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/core/variant.hpp"
#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {

struct ParityKernel {
  std::string name;  ///< takes parity_block.cuh's DoublingArguments and a Convolution
  std::int64_t threads = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t weight_bytes = 4;  ///< of one packed weight
};

/// The module has the kernel and one `pack`; the configuration has `rows` and `columns`. Throws Unavailable
/// when the packed weights find no memory, Error when a grid cannot hold the problem.
[[nodiscard]] std::unique_ptr<Plan> make_parity_plan(const ParityKernel& kernel,
                                                     const CudaRequest& request);

}  // namespace fusebench::conv_transpose3d_residual
