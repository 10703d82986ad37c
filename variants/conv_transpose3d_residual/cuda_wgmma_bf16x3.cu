// The whole operator in one kernel of Hopper's tensor-core instructions: each operand as two bf16, three
// products of them, sums in float32.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_double.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_wgmma_variant({
    .name = "cuda_wgmma_bf16x3",
    .idea = "one kernel of wgmma instructions, three bf16 products: how near to the memory floor",
    .source = __FILE__,
    .precision = Precision::bf16x3,
    .format = WgmmaFormat::bf16,
    .products = 3,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
