// The parities on tensor cores in three products of bfloat16 halves, nearly float32 at a third of bfloat16's speed.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/parity_formats.cuh"
typedef Bf16x3 Operands;
#include "variants/conv_transpose3d_residual/parity_mma.cuh"

#else
#include "variants/conv_transpose3d_residual/parity_mma.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_parity_mma_variant({
    .name = "cuda_parity_bf16x3",
    .idea = "the eight parities of each position in one block by mma.sync in three bf16 products, "
            "fused",
    .source = __FILE__,
    .precision = Precision::bf16x3,
    .value_bytes = 4,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
