// The same kernel as anyone would write it: the compiler fuses `x * c + c` into an FMA, so the result
// is no longer bit-equal to the order in the source. Compare its bit-equal column with cuda_stepwise.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float* c, const float* b, Extents extents) {
  const u64 first = blockIdx.x * u64(BLOCK_SIZE);
  const u64 i = first + threadIdx.x;
  if (i >= extents.elements) return;
  const TileBias<BLOCK_SIZE> bias(b, extents, first);
  const float x = c[i];
  y[i] = ((x + bias.at(i)) + x) * x + x;
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_stepwise_contracted",
    .idea = "cuda_stepwise in plain operators, contracted by the compiler: shows the difference",
    .source = __FILE__,
    .precision = Precision::float32,
    .parameters = ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "256"}}),
    .shape =
        [](const CudaRequest& request, CudaKernel&) {
          return one_tile_a_block(request, request.configuration.integer("block_size"));
        },
    .contract = true,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
