// The parities on tensor cores in three products of TF32 halves, which keep float32's contract.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/parity_formats.cuh"
typedef Tf32x3 Operands;
#include "variants/conv_transpose3d_residual/parity_mma.cuh"

#else
#include "variants/conv_transpose3d_residual/parity_mma.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_parity_mma_variant({
    .name = "cuda_parity_tf32x3",
    .idea = "the eight parities of each position in one block by mma.sync in three TF32 products, "
            "fused",
    .source = __FILE__,
    .precision = Precision::float32,
    .value_bytes = 8,
    .default_rows = 2,
    .blocks = {"0"},
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
