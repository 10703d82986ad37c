// The formats that operands are held in (FORMAT 0 bf16, 1 fp16, 2 TF32), whole (PRODUCTS 1) or, of 16 bits, as two
// halves (PRODUCTS 3), and how their matrices lie in shared memory.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_scaled_halves.cuh"

// fp16 ends at 65504 and 2^-24: two halves of it hold float32's contract when x and weights are scaled.
#define FUSEBENCH_SCALED (FORMAT == 1 && PRODUCTS == 3)
// Elements of 4 bytes: x lies as [position][channel], since TF32 products have no other order; else as
// [channel][position].
#define FUSEBENCH_TF32 (FORMAT == 2)

constexpr u32 element_bytes = FUSEBENCH_TF32 ? 4 : 2;

#if FUSEBENCH_TF32
constexpr float largest_weight = 0x1p126f;  // beyond which rounding may overflow
__device__ inline void multiply(float (&d)[64], u64 a, u64 b, u32 add) { wgmma_tf32(d, a, b, add); }
#else
#if FORMAT == 0
constexpr float largest_weight = 0x1p126f;
__device__ inline u32 rounded_pair(float first, float second) { return to_bf16(first, second); }
__device__ inline float first_of(u32 pair) { return __uint_as_float(pair << 16); }
__device__ inline float second_of(u32 pair) { return __uint_as_float(pair & 0xFFFF0000u); }
__device__ inline void multiply(float (&d)[64], u64 a, u64 b, u32 add) { wgmma_bf16(d, a, b, add); }
#else
constexpr float largest_weight = 32768.0f;
__device__ inline u32 rounded_pair(float first, float second) { return to_fp16(first, second); }
__device__ inline float first_of(u32 pair) { return from_fp16(pair & 0xFFFF); }
__device__ inline float second_of(u32 pair) { return from_fp16(pair >> 16); }
__device__ inline void multiply(float (&d)[64], u64 a, u64 b, u32 add) { wgmma_f16(d, a, b, add); }
#endif

// What rounding to the high half left, rounded; in units of 1 / low_scale where operands are scaled.
__device__ inline u32 rest_pair(float first, float second, u32 high) {
  const float scale = FUSEBENCH_SCALED ? low_scale : 1.0f;
  return rounded_pair((first - first_of(high)) * scale, (second - second_of(high)) * scale);
}
#endif
