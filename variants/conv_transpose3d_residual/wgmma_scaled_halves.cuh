// A float32 as two fp16 that together carry 22 bits of it, with a power of two for many: v = 2^-k (high + 2^-11
// low). Whatever is from 2^-14 to 65504 when it is scaled is held within 2^-22 of itself: high within 2^-11, the rest, 2^11
// times larger, within another 2^-11 or 2^-25. A k of their own brings the largest of them to [2^14, 2^15), or as near as
// k <= 127 does, and so holds all that is at least 2^-28 of it. A product of two lows is left out: 2^-22 of the product.
// Together that is 12u of float32's 32u; the others are for the sum, which tensor cores truncate.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma.cuh"

constexpr u32 low_bits = 11;
constexpr float low_scale = 1 << low_bits;
constexpr float least_scaled = 0x1p-14f;
constexpr float end_of_scaled = 65504.0f;  // whose rest, 2^11 times larger, is no more than 2^15
constexpr u32 first_exponent = 127 - 13;   // of unscaling, for magnitudes below 7.99

// 2^(exponent - 127); 0 gives 2^-127, a subnormal.
__device__ inline float power_of_two(u32 exponent) {
  return __uint_as_float(exponent == 0 ? 0x00400000u : exponent << 23);
}

// The magnitudes met so far. As integers they order like the floats; zero, less 1, is the greatest.
struct Magnitudes {
  u32 largest = 0;
  u32 smallest_less_1 = ~0u;
  __device__ void meet(float value) {
    const u32 bits = __float_as_uint(value) & 0x7FFFFFFFu;
    largest = max(largest, bits);
    smallest_less_1 = min(smallest_less_1, bits - 1);
  }
  __device__ void meet_all(float4 values) {
    meet(values.x);
    meet(values.y);
    meet(values.z);
    meet(values.w);
  }
  __device__ void meet(const Magnitudes& others) {
    largest = max(largest, others.largest);
    smallest_less_1 = min(smallest_less_1, others.smallest_less_1);
  }
  // Of all lanes of a warp.
  __device__ Magnitudes of_warp() const {
    Magnitudes all;
    all.largest = __reduce_max_sync(~0u, largest);
    all.smallest_less_1 = __reduce_min_sync(~0u, smallest_less_1);
    return all;
  }
  // The exponent field of 2^-k, what a scaled value must be multiplied by; k is at most 127.
  __device__ u32 unscaling_exponent() const {
    return largest == 0 ? 127u : max(largest >> 23, 14u) - 14u;
  }
  __device__ float unscaling() const { return power_of_two(unscaling_exponent()); }
  __device__ float scaling() const { return power_of_two(254u - unscaling_exponent()); }
  // Whether each of them is held, multiplied by 2^(127 - exponent).
  __device__ bool held_with(u32 exponent) const {
    const float by = power_of_two(254u - exponent);
    return __uint_as_float(largest) * by < end_of_scaled &&
           (smallest_less_1 == ~0u || __uint_as_float(smallest_less_1 + 1) * by >= least_scaled);
  }
  __device__ bool representable() const { return held_with(unscaling_exponent()); }
};
