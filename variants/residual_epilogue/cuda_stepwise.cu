// One thread an element, each step explicitly rounded: what fusing alone is worth, bit for bit.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float* c, const float* b, Extents extents) {
  const u64 first = blockIdx.x * u64(BLOCK_SIZE);
  const u64 i = first + threadIdx.x;
  if (i >= extents.elements) return;
  const TileBias<BLOCK_SIZE> bias(b, extents, first);
  y[i] = exact_order(c[i], bias.at(i));
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_stepwise",
    .idea = "one fused kernel, a thread an element, each step rounded: what fusing alone is worth",
    .source = __FILE__,
    .precision = Precision::exact_order,
    .parameters = ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "256"}}),
    .shape =
        [](const CudaRequest& request, CudaKernel&) {
          return one_tile_a_block(request, request.configuration.integer("block_size"));
        },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
