// The whole operator in one kernel of Hopper's tensor-core instructions, within float32's contract: each operand as
// two fp16 under a common power of two, three products of them, sums in float32.
#ifdef __CUDACC_RTC__
#include "variants/conv_transpose3d_residual/wgmma_strips.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_double.hpp"
#include "variants/conv_transpose3d_residual/wgmma_strips.hpp"

namespace fusebench::conv_transpose3d_residual {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_wgmma_fp16x3",
    .idea =
        "three products of scaled fp16 halves: float32's contract at the tensor cores' 16-bit rate",
    .source = __FILE__,
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"groups", integers({2, 3}), "3"},
                                  {"keep_x", integers({0, 1}), "1"},
                                  {"store", {"store_streaming", "store_l2"}, "store_l2"}}),
    .refuses = wgmma_refuses,
    .plan = plan_strips,
    .only_architecture = 90,
});

}  // namespace
}  // namespace fusebench::conv_transpose3d_residual
#endif
