// As cuda_wgmma_bf16 in fp16: 11 bits instead of 8, and a narrow range.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_double.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_wgmma_variant({
    .name = "cuda_wgmma_fp16",
    .idea = "one kernel of wgmma instructions, one fp16 product: three bits more than bf16, a "
            "narrow range",
    .source = __FILE__,
    .precision = Precision::fp16,
    .format = WgmmaFormat::fp16,
    .products = 1,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
