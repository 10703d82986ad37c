// y = c * (2c + (b + 1)): one FMA and one multiplication an element instead of four operations.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float* c, const float* b, Extents extents) {
  const u64 first = blockIdx.x * u64(BLOCK_SIZE);
  const u64 i = first + threadIdx.x;
  if (i >= extents.elements) return;
  const TileBias<BLOCK_SIZE> bias(b, extents, first);
  const float x = c[i];
  y[i] = __fmul_rn(x, __fmaf_rn(2.0f, x, __fadd_rn(bias.at(i), 1.0f)));
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_algebraic_fma",
    .idea = "c * (2c + b + 1) with one FMA: what half the arithmetic is worth",
    .source = __FILE__,
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "256"}}),
    .shape =
        [](const CudaRequest& request, CudaKernel&) {
          return one_tile_a_block(request, request.configuration.integer("block_size"));
        },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
