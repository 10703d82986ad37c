// The harness's own kernels on memory: inputs, poison and fingerprints, by the formulas the CPU uses.
#include "harness/core/generator.hd.hpp"

using namespace fusebench;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ inline u64 first_index() { return blockIdx.x * u64(blockDim.x) + threadIdx.x; }
__device__ inline u64 stride() { return gridDim.x * u64(blockDim.x); }

extern "C" __global__ void generate(float* to, u64 count, u64 stream, InputRecipe recipe) {
  for (u64 i = first_index(); i < count; i += stride()) {
    to[i] = input_value(recipe, stream, i, count);
  }
}

extern "C" __global__ void poison(u32* to, u64 count, u64 seed) {
  for (u64 i = first_index(); i < count; i += stride()) to[i] = poison_bits(seed, i);
}

extern "C" __global__ void fingerprint(const u32* words, u64 count, u64* sum) {
  u64 part = 0;
  for (u64 i = first_index(); i < count; i += stride()) part += fingerprint_term(i, words[i]);
  for (int lane = 16; lane > 0; lane /= 2) part += __shfl_down_sync(0xFFFFFFFFu, part, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
}
