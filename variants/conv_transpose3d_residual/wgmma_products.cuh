// Products of an item's planes with a parity's weights.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_block.cuh"

// The sums of 4 x 32 positions for one row parity, by column tap.
struct Sums {
  float tap1[64], tap2[64], tap0[64];
};

#if FUSEBENCH_SCALED
// Adds what a plane gives to one parity. LOWS: products with a low half, which are larger by low_scale; else those of
// the highs.
template <bool LOWS>
__device__ inline void multiply_plane(Sums& sums, u32 taps, u32 plane, u32 rows, u32 add) {
  wgmma_begin();
#pragma unroll 1
  for (u32 row = 0; row < rows; ++row) {
    const u64 w = matrix_of_weights(taps + row * row_tap_bytes);
    const u64 x = matrix_of_x(plane + row * row_bytes);
#pragma unroll
    for (u32 step = 0; step < k_steps; ++step) {
      const u64 x_high = moved(x, step * x_step_bytes);
      const u64 w_high = moved(w, step * 32);
      const u64 x_low = moved(x_high, row_part_bytes);
      const u64 w_low = moved(w_high, tap_part_bytes);
      const auto add_tap = [&](float(&sum)[64], u32 at) {
        if (LOWS) {
          multiply(sum, moved(w_low, at), x_high, add);
          multiply(sum, moved(w_high, at), x_low, 1);
        } else {
          multiply(sum, moved(w_high, at), x_high, 1);
        }
      };
      add_tap(sums.tap1, 0);
      add_tap(sums.tap2, tap_bytes);
      add_tap(sums.tap0, 2 * tap_bytes);
      add = 1;
    }
  }
  wgmma_end();
  wgmma_results(sums.tap1);
  wgmma_results(sums.tap2);
  wgmma_results(sums.tap0);
}

// By 2^(exponent - 127).
__device__ inline void scale(Sums& sums, u32 exponent) {
  const float by = power_of_two(exponent);
#pragma unroll
  for (u32 i = 0; i < 64; ++i) {
    sums.tap1[i] *= by;
    sums.tap2[i] *= by;
    sums.tap0[i] *= by;
  }
}

// Of one parity. `taps` is the shared address of its weights; the item's plane and, where `planes` is 2, the next
// one are at the other two. These have powers of two of their own, whose exponents are in `exponents`: sums are brought
// from the first one's units to the second's and back.
__device__ inline void multiply_item(Sums& sums, u32 taps, u32 first_plane, u32 second_plane,
                                     u32 planes, u32 rows, u32 exponents) {
  multiply_plane<true>(sums, taps, first_plane, rows, 0);
  const u32 apart = planes == 2 ? (exponents & 0xFF) - (exponents >> 8) : 0;
  if (planes == 2) {
    if (apart != 0) scale(sums, 127 + apart);
    multiply_plane<true>(sums, taps + rows * row_tap_bytes, second_plane, rows, 1);
  }
  scale(sums, 127 - low_bits);
  if (planes == 2) {
    multiply_plane<false>(sums, taps + rows * row_tap_bytes, second_plane, rows, 1);
    if (apart != 0) scale(sums, 127 - apart);
  }
  multiply_plane<false>(sums, taps, first_plane, rows, 1);
}
#else
// Of one parity. `taps` is the shared address of its weights; the item's plane and, where `planes` is 2, the next
// one are at the other two.
__device__ inline void multiply_item(Sums& sums, u32 taps, u32 first_plane, u32 second_plane,
                                     u32 planes, u32 rows, u32) {
  wgmma_begin();
  u32 add = 0;
#pragma unroll 1
  for (u32 plane = 0; plane < planes; ++plane) {
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row, taps += row_tap_bytes) {
      const u64 w = matrix_of_weights(taps);
      const u64 x = matrix_of_x((plane == 0 ? first_plane : second_plane) + row * row_bytes);
#pragma unroll
      for (u32 step = 0; step < k_steps; ++step) {
        const u64 x_high = moved(x, step * x_step_bytes);
        const u64 w_high = moved(w, step * 32);
        const u64 x_low = moved(x_high, row_part_bytes);
        const u64 w_low = moved(w_high, tap_part_bytes);
        const auto add_tap = [&](float(&sum)[64], u32 at) {
          if (parts == 1) {
            multiply(sum, moved(w_high, at), x_high, add);
          } else {  // the small ones first
            multiply(sum, moved(w_low, at), x_high, add);
            multiply(sum, moved(w_high, at), x_low, 1);
            multiply(sum, moved(w_high, at), x_high, 1);
          }
        };
        add_tap(sums.tap1, 0);
        add_tap(sums.tap2, tap_bytes);
        add_tap(sums.tap0, 2 * tap_bytes);
        add = 1;
      }
    }
  }
  wgmma_end();
  wgmma_results(sums.tap1);
  wgmma_results(sums.tap2);
  wgmma_results(sums.tap0);
}
#endif
