// The whole operator in one kernel of Hopper's tensor-core instructions, within float32's contract: each operand as
// two fp16 under a common power of two, three products of them, sums in float32.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_double.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_wgmma_variant({
    .name = "cuda_wgmma_fp16x3",
    .idea =
        "three products of scaled fp16 halves: float32's contract at the tensor cores' 16-bit rate",
    .source = __FILE__,
    .precision = Precision::float32,
    .format = WgmmaFormat::fp16,
    .products = 3,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
