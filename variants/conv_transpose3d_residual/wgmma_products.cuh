// Products of an item's planes with a parity's weights.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_block.cuh"

// The two consumers take turns: products of both at once would take twice as long, while nothing is written. Not of one
// product an element, which are soon done.
constexpr bool in_turns = PRODUCTS == 3;

// By a consumer's threads, which meet.
__device__ inline void begin_products() {
  if (!in_turns) return;
  const u32 thread = thread_now();
  if (thread % warpgroup == 0) {
    while (atomicCAS(&head()->multiplies, 0u, warpgroup / 32) != 0) sleep_briefly();
  }
  named_barrier_sync<warpgroup>(2 + thread / warpgroup);
}
__device__ inline void end_products() {
  if (in_turns && thread_now() % 32 == 0) atomicSub(&head()->multiplies, 1u);
}

// The sums of 4 x 32 positions for one row parity, by column tap.
struct Sums {
  float tap1[64], tap2[64], tap0[64];
};

#if FUSEBENCH_SCALED
// The three column taps' sums take turns: while one's are multiplied by a power of two, the products of the two others
// go on. The compiler sees which of them do only where products make one straight line: so there are templates where there
// might be loops.

// By the low word of its descriptor, which offsets of 16 bytes are added to; the high words are all the same.
__device__ inline u64 weights_of(u32 low) { return matrix_of_weights(0) >> 32 << 32 | low; }
__device__ inline u64 x_of(u32 low) { return matrix_of_x(0) >> 32 << 32 | low; }
__device__ constexpr u32 in_16(u32 bytes) { return bytes >> 4; }

// Adds what a plane gives to one column tap of a parity, as a group of products, to the sums so far times
// 2^(exponent - 127). LOWS: those with a low half, which are larger by low_scale; else those of the highs. In STAGE 0
// there are no sums yet.
template <bool LOWS, u32 ROWS, u32 STAGE, u32 TAP>
__device__ __forceinline__ void add_to_tap(float (&sum)[64], u32 w, u32 x, u32 exponent) {
  if (STAGE != 0) {
    wgmma_wait<2>();
    wgmma_results(sum);
    if (exponent != 127) {
      const float by = power_of_two(exponent);
#pragma unroll
      for (u32 i = 0; i < 64; ++i) sum[i] *= by;
    }
  }
  // blockIdx.y is 0, which the compiler does not know: else it would keep each group's matrices for the others, in
  // registers that there are not.
  w += in_16(TAP * tap_bytes) + (3 * STAGE + TAP) * blockIdx.y;
  x += (3 * STAGE + TAP) * blockIdx.y;
  wgmma_begin();
  u32 add = STAGE != 0;
#pragma unroll
  for (u32 i = 0; i < ROWS * k_steps; ++i) {
    const u32 w_high = w + in_16(i / k_steps * row_tap_bytes + i % k_steps * 32);
    const u32 x_high = x + in_16(i / k_steps * row_bytes + i % k_steps * x_step_bytes);
    if (LOWS) {
      multiply(sum, weights_of(w_high + in_16(tap_part_bytes)), x_of(x_high), add);
      multiply(sum, weights_of(w_high), x_of(x_high + in_16(row_part_bytes)), 1);
    } else {
      multiply(sum, weights_of(w_high), x_of(x_high), add);
    }
    add = 1;
  }
  wgmma_commit();
}

template <bool LOWS, u32 ROWS, u32 STAGE>
__device__ __forceinline__ void add_plane(Sums& sums, u32 w, u32 x, u32 exponent) {
  add_to_tap<LOWS, ROWS, STAGE, 0>(sums.tap1, w, x, exponent);
  add_to_tap<LOWS, ROWS, STAGE, 1>(sums.tap2, w, x, exponent);
  add_to_tap<LOWS, ROWS, STAGE, 2>(sums.tap0, w, x, exponent);
}

// The planes have powers of two of their own, whose exponents are so far apart: sums are brought from the first one's units
// to the second's and back.
template <u32 PLANES, u32 ROWS>
__device__ __forceinline__ void multiply_rows(Sums& sums, u32 w, u32 first, u32 second, u32 apart) {
  add_plane<true, ROWS, 0>(sums, w, first, 127);
  if (PLANES == 1) {
    add_plane<false, ROWS, 1>(sums, w, first, 127 - low_bits);
  } else {
    const u32 w_second = w + in_16(ROWS * row_tap_bytes);
    add_plane<true, ROWS, 1>(sums, w_second, second, 127 + apart);
    add_plane<false, ROWS, 2>(sums, w_second, second, 127 - low_bits);
    add_plane<false, ROWS, 3>(sums, w, first, 127 - apart);
  }
  wgmma_wait<0>();
  wgmma_results(sums.tap1);
  wgmma_results(sums.tap2);
  wgmma_results(sums.tap0);
}

// Of one parity. `taps` is the shared address of its weights; the item's plane and, where `planes` is 2, the next
// one are at the other two.
__device__ __forceinline__ void multiply_item(Sums& sums, u32 taps, u32 first_plane,
                                              u32 second_plane, u32 planes, u32 rows,
                                              Exponents exponents) {
  const u32 w = static_cast<u32>(matrix_of_weights(taps));
  const u32 first = static_cast<u32>(matrix_of_x(first_plane));
  const u32 second = static_cast<u32>(matrix_of_x(second_plane));
  if (planes * rows == 4) {
    multiply_rows<2, 2>(sums, w, first, second, exponents.apart());
  } else if (planes * rows == 2) {
    // Two rows of a plane are to them as two planes: there is the less code, which the first item waits for.
    const bool two_planes = planes == 2;
    multiply_rows<2, 1>(sums, w, first, two_planes ? second : first + in_16(row_bytes),
                        two_planes ? exponents.apart() : 0);
  } else {
    multiply_rows<1, 1>(sums, w, first, second, 0);
  }
}
#else
// Of one parity. `taps` is the shared address of its weights; the item's plane and, where `planes` is 2, the next
// one are at the other two.
__device__ inline void multiply_item(Sums& sums, u32 taps, u32 first_plane, u32 second_plane,
                                     u32 planes, u32 rows, Exponents) {
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
