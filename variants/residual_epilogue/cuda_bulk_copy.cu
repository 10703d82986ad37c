// cp.async.bulk moves whole tiles through shared memory: the threads only do arithmetic, one of them starts the
// copies. By default a block does one tile. `tiles` and `stages` make a ring of it, in which each stage goes round: loading,
// being worked on, storing, free. Blocks do tiles that follow each other and then end: they start in order, so what is under
// way is one stretch of memory. Resident blocks that strode over all of it took 265.3 us on an H200 where these take 254.9
// (docs/profiling.md).
#ifdef __CUDACC_RTC__
#include "variants/residual_epilogue/epilogue.cuh"

constexpr u32 tile = TILE_BYTES / 4;

__device__ inline u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }

__device__ inline void barrier_init(u64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

__device__ inline void barrier_wait(u64* barrier, u32 parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

__device__ inline u64 evict_first() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline u64 evict_normal() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ inline void start_load(float* to, const float* from, u32 bytes, u64* barrier,
                                  u64 policy) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
               " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
               : "memory");
}

__device__ inline void start_store(float* to, const float* from, u32 bytes, u64 policy) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;\n"
               "cp.async.bulk.commit_group;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes), "l"(policy)
               : "memory");
}

// Bytes of tile `first` that go in bulk: a multiple of 16, at the end of the tensor too.
__device__ inline u32 bulk_bytes(const Extents& extents, u64 first) {
  const u64 left = (extents.elements - first) / 4 * 16;
  return left < TILE_BYTES ? u32(left) : TILE_BYTES;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    epilogue(float* y, const float* c, const float* b, Extents extents) {
  extern __shared__ __align__(128) float ring[];  // STAGES tiles
  __shared__ u64 loaded[STAGES];
  const u64 begin = blockIdx.x * u64(tile) * TILES;
  if (!aligned(y, c, 16)) {
    scalar_tile(y, c, b, extents, begin, tile * TILES);
    return;
  }

  const u64 policy = HINT();
  const auto load = [&](u32 index, u32 stage) {
    const u64 first = begin + index * u64(tile);
    const u32 bytes = index < TILES && first < extents.elements ? bulk_bytes(extents, first) : 0;
    if (bytes > 0) start_load(ring + stage * tile, c + first, bytes, loaded + stage, policy);
  };
  if (threadIdx.x == 0) {
    for (u32 s = 0; s < STAGES; ++s) barrier_init(loaded + s);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (u32 s = 0; s < STAGES; ++s) load(s, s);
  }
  __syncthreads();

  u32 stage = 0;
  u32 parity = 0;
#pragma unroll 1
  for (u32 index = 0; index < TILES; ++index) {
    const u64 first = begin + index * u64(tile);
    if (first >= extents.elements) break;
    // The stage before this one is free once its store, just committed, has been read out of shared
    // memory; the loads of the other stages are under way meanwhile.
    if (TILES > STAGES && index > 0 && threadIdx.x == 0) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      load(index - 1 + STAGES, stage == 0 ? STAGES - 1 : stage - 1);
    }
    const u32 bytes = bulk_bytes(extents, first);
    const TileBias<tile> bias(b, extents, first);
    float* const here = ring + stage * tile;
    if (bytes > 0) {
      barrier_wait(loaded + stage, parity);
      for (u32 i = threadIdx.x * 4; i < bytes / 4; i += BLOCK_SIZE * 4) {
        float4* at = reinterpret_cast<float4*>(here + i);
        *at = apply(*at, bias, first + i);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0 && bytes > 0) start_store(y + first, here, bytes, policy);
    // The last one to three elements of the tensor.
    const u64 rest = first + bytes / 4 + threadIdx.x;
    if (bytes < TILE_BYTES && rest < extents.elements) {
      y[rest] = exact_order(c[rest], bias.at(rest));
    }
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
  // Shared memory must outlive the stores' reads.
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

#else
#include "variants/residual_epilogue/cuda_variant.hpp"

namespace fusebench::residual_epilogue {
namespace {

LaunchShape shape(const CudaRequest& request, CudaKernel&) {
  const Configuration& k = request.configuration;
  LaunchShape shape = one_tile_a_block(request, k.integer("tile_bytes") / 4 * k.integer("tiles"));
  shape.dynamic_shared_bytes =
      static_cast<std::uint32_t>(k.integer("tile_bytes") * k.integer("stages"));
  return shape;
}

const bool registered = add_cuda_variant({
    .name = "cuda_bulk_copy",
    .idea = "tiles through shared memory by cp.async.bulk: what the copy engine of the SM is worth",
    .source = __FILE__,
    .precision = Precision::exact_order,
    .parameters =
        ParameterSpace({{"block_size", integers({32, 64, 128, 256, 512, 1024}), "64"},
                        {"tile_bytes", integers({1024, 2048, 4096, 8192, 16384, 32768}), "2048"},
                        {"tiles", integers({1, 2, 4, 8, 16}), "1"},
                        {"stages", integers({1, 2, 3, 4, 8}), "1"},
                        {"hint", {"evict_normal", "evict_first"}, "evict_normal"}},
                       // A thread has 16 bytes of a tile at least.
                       {"block_size * 16 <= tile_bytes", "stages <= tiles",
                        "tile_bytes * stages <= shared_memory_bytes"}),
    .shape = shape,
    .oldest_architecture = 90,
});

}  // namespace
}  // namespace fusebench::residual_epilogue
#endif
