// As cuda_wgmma_bf16x3 with one product of rounded operands: what is left when precision does not matter.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_double.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_wgmma_variant({
    .name = "cuda_wgmma_bf16",
    .idea =
        "one kernel of wgmma instructions, one bf16 product: how fast if precision did not matter",
    .source = __FILE__,
    .precision = Precision::bf16,
    .format = WgmmaFormat::bf16,
    .products = 1,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
