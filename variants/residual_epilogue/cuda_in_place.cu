// cuda_float4 with y over c: the line that is written is the one that was read.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

constexpr u32 tile = BLOCK_SIZE * ITEMS * 4;

// All accesses are through y, so that the compiler sees what is overwritten; c is the same memory.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float*, const float* b, Extents extents) {
  const u64 first = blockIdx.x * u64(tile);
  if (first + tile > extents.elements || !aligned(y, y, 16)) {
    scalar_tile(y, y, b, extents, first, tile);
    return;
  }
  const u64 mine = first + threadIdx.x * 4;
  float4* const at = reinterpret_cast<float4*>(y + mine);
  float4 value[ITEMS];
#pragma unroll
  for (u32 i = 0; i < ITEMS; ++i) value[i] = LOAD(at + i * BLOCK_SIZE);
  const TileBias<tile> bias(b, extents, first);
#pragma unroll
  for (u32 i = 0; i < ITEMS; ++i) {
    STORE(at + i * BLOCK_SIZE, apply(value[i], bias, mine + i * BLOCK_SIZE * 4));
  }
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_in_place",
    .idea = "16-byte accesses, y over c: what an output of its own costs",
    .source = __FILE__,
    .precision = Precision::exact_order,
    .parameters = ParameterSpace(
        {{"block_size", integers({32, 64, 128, 256, 512, 1024}), "128"},
         {"items", integers({1, 2, 4, 8}), "1"},
         // Those that go through the read-only cache must not read what the kernel writes.
         {"load", {"load_plain", "load_streaming", "load_l2"}, "load_l2"},
         {"store",
          {"store_default", "store_streaming", "store_l2", "store_through"},
          "store_default"}}),
    .shape =
        [](const CudaRequest& request, CudaKernel&) {
          const Configuration& k = request.configuration;
          return one_tile_a_block(request, k.integer("block_size") * k.integer("items") * 4);
        },
    .in_place = InPlace::only,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
