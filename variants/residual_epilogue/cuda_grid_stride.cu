// A grid that just fills the device and strides over the tensor: what launching fewer, longer blocks
// is worth. The next tile's loads are issued before this one's stores.
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

template <u32 WIDTH>
struct VectorOf;
template <>
struct VectorOf<1> {
  using type = float;
};
template <>
struct VectorOf<2> {
  using type = float2;
};
template <>
struct VectorOf<4> {
  using type = float4;
};
using Vector = VectorOf<VECTOR_WIDTH>::type;

constexpr u32 tile = BLOCK_SIZE * ITEMS * VECTOR_WIDTH;

struct Items {
  Vector value[ITEMS];
};

__device__ inline Items load_tile(const float* c, u64 mine) {
  Items items;
#pragma unroll
  for (u32 i = 0; i < ITEMS; ++i) {
    items.value[i] = LOAD(reinterpret_cast<const Vector*>(c + mine) + i * BLOCK_SIZE);
  }
  return items;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float* c, const float* b, Extents extents) {
  const u64 step = gridDim.x * u64(tile);
  u64 first = blockIdx.x * u64(tile);
  if (aligned(y, c, sizeof(Vector))) {
    const u64 offset = threadIdx.x * VECTOR_WIDTH;
    Items now;
    if (first + tile <= extents.elements) now = load_tile(c, first + offset);
    while (first + tile <= extents.elements) {
      const u64 next = first + step;
      Items ahead;
      if (next + tile <= extents.elements) ahead = load_tile(c, next + offset);
      const TileBias<tile> bias(b, extents, first);
#pragma unroll
      for (u32 i = 0; i < ITEMS; ++i) {
        const u64 at = first + offset + i * BLOCK_SIZE * VECTOR_WIDTH;
        STORE(reinterpret_cast<Vector*>(y + at), apply(now.value[i], bias, at));
      }
      now = ahead;
      first = next;
    }
  }
  for (; first < extents.elements; first += step) scalar_tile(y, c, b, extents, first, tile);
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

const bool registered = add_cuda_variant({
    .name = "cuda_grid_stride",
    .idea = "a persistent grid with loads one tile ahead: what fewer, longer blocks are worth",
    .source = __FILE__,
    .precision = Precision::exact_order,
    .parameters =
        ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "128"},
                        {"items", integers({1, 2, 4}), "2"},
                        {"vector_width", integers({1, 2, 4}), "4"},
                        {"load", {"load_l2", "load_streaming", "load_no_allocate"}, "load_l2"},
                        {"store", {"store_default", "store_streaming"}, "store_default"},
                        {"blocks_per_sm", integers({2, 4, 8, 16, 32}), "8"}},
                       {"block_size * blocks_per_sm <= 2048"}),  // threads of a multiprocessor
    .shape =
        [](const CudaRequest& request, CudaKernel& kernel) {
          const Configuration& k = request.configuration;
          return persistent_grid(
              request, kernel,
              k.integer("block_size") * k.integer("items") * k.integer("vector_width"));
        },
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
