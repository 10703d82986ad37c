// The parities on tensor cores in plain TF32: what the format that PyTorch takes by default allows here.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/parity_formats.cuh"
typedef Tf32 Operands;
#include "variants/conv_transpose3d_residual/parity_mma.cuh"

#else
#include "variants/conv_transpose3d_residual/parity_mma.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_parity_mma_variant({
    .name = "cuda_parity_tf32",
    .idea = "the eight parities of each position in one block by mma.sync in TF32, fused",
    .source = __FILE__,
    .precision = Precision::tf32,
    .value_bytes = 4,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
