// The controls: a plain float4 copy, a fill and chains of FMAs, as fast as this project knows how.
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

// Four chains a thread that depend on nothing but themselves, and so many threads that every unit always has
// one to go on with. What is multiplied by and added is not known here: the compiler must do it all.
extern "C" __global__ void __launch_bounds__(FMA_BLOCK)
    fma_chains(float4* to, const float4* from, float up, float down, float nothing, u64 count) {
  const u64 i = blockIdx.x * u64(FMA_BLOCK) + threadIdx.x;
  if (i >= count) return;
  float4 v = LOAD(from + i);
#pragma unroll 16
  for (int step = 0; step < FMA_STEPS / 2; ++step) {
    v.x = fmaf(v.x, up, nothing);
    v.y = fmaf(v.y, up, nothing);
    v.z = fmaf(v.z, up, nothing);
    v.w = fmaf(v.w, up, nothing);
    v.x = fmaf(v.x, down, nothing);
    v.y = fmaf(v.y, down, nothing);
    v.z = fmaf(v.z, down, nothing);
    v.w = fmaf(v.w, down, nothing);
  }
  STORE(to + i, v);
}
