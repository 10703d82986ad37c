// The controls: a plain float4 copy and a fill, as fast as this project knows how, tails included.
#include "harness/device/cuda/kernels/cache_policy.cuh"

typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(COPY_BLOCK)
    copy(float4* to, const float4* from, u64 count) {
  const u64 i = blockIdx.x * u64(COPY_BLOCK) + threadIdx.x;
  if (i < count) STORE(to + i, LOAD(from + i));
}

extern "C" __global__ void __launch_bounds__(FILL_BLOCK) fill(float4* to, float word, u64 count) {
  const u64 first = blockIdx.x * u64(FILL_BLOCK * FILL_ITEMS) + threadIdx.x;
  const float4 value = make_float4(word, word, word, word);
#pragma unroll
  for (int i = 0; i < FILL_ITEMS; ++i) {
    if (first + i * FILL_BLOCK < count) STORE(to + first + i * FILL_BLOCK, value);
  }
}
