// The harness's own kernels on memory: inputs, poison and fingerprints, bit-equal with the CPU's
// (harness/core/generator.hpp states the formulas).
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ inline u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ inline u64 random_bits(u64 stream, u64 index) {
  return mix(stream * 0xD1B54A32D192ED03ull + index + 0x9E3779B97F4A7C15ull);
}

__device__ inline u64 first_index() { return blockIdx.x * u64(blockDim.x) + threadIdx.x; }
__device__ inline u64 stride() { return gridDim.x * u64(blockDim.x); }

extern "C" __global__ void generate(float* to, u64 count, u64 stream, float scale, float offset,
                                    float factor) {
  for (u64 i = first_index(); i < count; i += stride()) {
    const float uniform = float(random_bits(stream, i) >> 40) * 0x1p-24f;
    to[i] = __fmul_rn(__fadd_rn(__fmul_rn(scale, uniform), offset), factor);
  }
}

extern "C" __global__ void poison(u32* to, u64 count, u64 seed) {
  for (u64 i = first_index(); i < count; i += stride()) {
    const u32 payload = u32(random_bits(seed, i) >> 42);
    to[i] = 0x7FC00000u | (payload == 0 ? 1u : payload);
  }
}

extern "C" __global__ void fingerprint(const u32* words, u64 count, u64* sum) {
  u64 part = 0;
  for (u64 i = first_index(); i < count; i += stride()) {
    part += mix(i * 0xD1B54A32D192ED03ull + words[i] + 0x9E3779B97F4A7C15ull);
  }
  for (int lane = 16; lane > 0; lane /= 2) part += __shfl_down_sync(0xFFFFFFFFu, part, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
}
