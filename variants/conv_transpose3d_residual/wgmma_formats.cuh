// The 16-bit formats that operands are held in, whole (PRODUCTS 1) or as two halves (PRODUCTS 3).
#pragma once

#include "variants/conv_transpose3d_residual/wgmma.cuh"

struct Halves {
  unsigned short high, low;
};

#if FORMAT == 0                             // bf16: the exponents of float32
constexpr float largest_weight = 0x1p126f;  // beyond which rounding may overflow
__device__ inline u32 rounded_pair(float first, float second) { return to_bf16(first, second); }
__device__ inline float first_of(u32 pair) { return __uint_as_float(pair << 16); }
__device__ inline float second_of(u32 pair) { return __uint_as_float(pair & 0xFFFF0000u); }
__device__ inline void multiply(float (&d)[64], u64 a, u64 b, u32 add) { wgmma_bf16(d, a, b, add); }
#else  // fp16
constexpr float largest_weight = 32768.0f;
__device__ inline u32 rounded_pair(float first, float second) { return to_fp16(first, second); }
__device__ inline float first_of(u32 pair) { return from_fp16(pair & 0xFFFF); }
__device__ inline float second_of(u32 pair) { return from_fp16(pair >> 16); }
__device__ inline void multiply(float (&d)[64], u64 a, u64 b, u32 add) { wgmma_f16(d, a, b, add); }
#endif

// What rounding to the high half left, rounded.
__device__ inline u32 rest_pair(float first, float second, u32 high) {
  return rounded_pair(first - first_of(high), second - second_of(high));
}

__device__ inline Halves halves_of(float value) {
  const u32 high = rounded_pair(value, 0.0f);
  const u32 low = rest_pair(value, 0.0f, high);
  return {static_cast<unsigned short>(high), static_cast<unsigned short>(low)};
}
