// As cuda_wgmma_bf16x3 with one product of operands rounded to TF32: what PyTorch computes by default, in one kernel.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_double.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_wgmma_variant({
    .name = "cuda_wgmma_tf32",
    .idea = "one kernel of wgmma instructions, one TF32 product: the precision of eager PyTorch",
    .source = __FILE__,
    .precision = Precision::tf32,
    .format = WgmmaFormat::tf32,
    .products = 1,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
