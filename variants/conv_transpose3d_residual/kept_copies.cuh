// Copies of x, which with KEEP_X stays in L2 while y passes through it, and prefetches of x and y.
#pragma once

#include "harness/device/cuda/tensor_map.hd.hpp"
#include "variants/conv_transpose3d_residual/convolution.cuh"

#if KEEP_X
#define FUSEBENCH_KEPT ".L2::cache_hint"
#define FUSEBENCH_POLICY(N) ", %" #N
#else
#define FUSEBENCH_KEPT ""
#define FUSEBENCH_POLICY(N) ""
#endif

__device__ inline u64 keep_policy() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
  return policy;
}
// To L2, to be read once.
__device__ inline void fetch_line_once(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}
// To L2, to stay there: a multiple of 16 bytes at one of 16.
__device__ inline void fetch_bytes(const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global" FUSEBENCH_KEPT
               " [%0], %1" FUSEBENCH_POLICY(2) ";" ::"l"(from),
               "r"(bytes), "l"(keep_policy()));
}
// To shared memory, asynchronously: the box of a tensor map that begins at these coordinates, to a multiple of 128 bytes.
// What the tensor does not have is zeros there.
__device__ inline void copy_tile_kept(u32 to, const fusebench::TensorMap& map, u32 at_0, u32 at_1,
                                      u32 at_2, u32 at_3, u32 at_4, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::"
               "bytes" FUSEBENCH_KEPT
               " [%0], [%1, {%2, %3, %4, %5, %6}], [%7]" FUSEBENCH_POLICY(8) ";" ::"r"(to),
               "l"(&map), "r"(at_0), "r"(at_1), "r"(at_2), "r"(at_3), "r"(at_4), "r"(barrier),
               "l"(keep_policy())
               : "memory");
}
