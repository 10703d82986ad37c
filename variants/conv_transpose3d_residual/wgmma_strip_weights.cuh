// How the strip kernel cuts the problem, and weights as it keeps them.
//
// Along each dimension the output 2i takes tap 1 from the input i, the output 2i + 1 takes tap 2 from i and
// tap 0 from i + 1 where that exists. A warp takes a strip of 16 input columns in one row, and all outputs that
// begin there, for 64 channels:
//
//     w0          w0 + 15   + 16         outputs, 64 channels
//     +------------------+---+           +---------------------------+ 2 h       in planes 2 d
//     | plane d, row h   |   |    ==>    |      2 rows of 32         | 2 h + 1   and 2 d + 1
//     +------------------+---+           +---------------------------+
//     | row h + 1        |   |
//     +------------------+---+  and the same of plane d + 1
//
// The matrices: A = x [64 positions: the strips of a warpgroup's four warps][input channels], in registers; B =
// weights [input channels][output channels], all 27 taps in shared memory. For one parity of plane and row the
// even columns of y take column tap 1 of x, the odd ones tap 2 of x and tap 0 of x one column to the right.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/conv_transpose3d_residual/wgmma_scaled_halves.cuh"

constexpr u32 block_channels = 64;  // output channels
constexpr u32 tile_channels = 32;   // input channels, with zeros where there are fewer
constexpr u32 strip_columns = 16;

constexpr u32 steps = tile_channels / 16;
constexpr u32 tap_bytes = block_channels * 32;         // of one tap and step: rows of 32 bytes
constexpr u32 part_bytes = 3 * tap_bytes;              // [column tap]
constexpr u32 step_bytes = 2 * part_bytes;             // [high, low]
constexpr u32 weights_bytes = 9 * steps * step_bytes;  // [depth tap][row tap][step]

// In each dimension taps are kept in the order 1, 2, 0.
__device__ constexpr u32 tap_slot(u32 tap) { return tap == 0 ? 2 : tap - 1; }

struct OfChannel {
  float conv_bias, b_plus_1;
  float unscaling;  // what products with the channel's weights are multiplied by
  // 0: the weights cannot be held as halves. Else the exponent field of unscaling, plus 1.
  u32 exponent;
};

// What a call leaves for its main kernel.
struct Prepared {
  unsigned char*
      weights;          // weights_bytes for each block of channels, in the bytes of shared memory
  OfChannel* channels;  // with padding
};

constexpr u32 pack_threads = 256;

// A block packs the weights of one output channel.
__device__ inline void pack(const Prepared& to, const float* w, const float* conv_bias,
                            const float* b, const Convolution& s) {
  constexpr u32 elements = 27 * tile_channels;
  constexpr u32 of_thread = (elements + pack_threads - 1) / pack_threads;
  let_next_kernel_start();
  const u32 channel = blockIdx.x;
  const bool channel_exists = channel < s.out_channels;
  float values[of_thread];
  Magnitudes mine;
#pragma unroll
  for (u32 i = 0; i < of_thread; ++i) {
    const u32 element = threadIdx.x + i * pack_threads;
    const u32 in = element / 27;
    const bool exists = channel_exists && in < s.in_channels;
    values[i] = exists ? __ldg(w + (u64(in) * s.out_channels + channel) * 27 + element % 27) : 0.0f;
    mine.meet(values[i]);
  }
  __shared__ u32 largest[pack_threads / 32];
  __shared__ u32 smallest_less_1[pack_threads / 32];
  const Magnitudes of_warp = mine.of_warp();
  largest[threadIdx.x / 32] = of_warp.largest;
  smallest_less_1[threadIdx.x / 32] = of_warp.smallest_less_1;
  __syncthreads();
  Magnitudes all;
  for (u32 i = 0; i < pack_threads / 32; ++i) {
    all.largest = max(all.largest, largest[i]);
    all.smallest_less_1 = min(all.smallest_less_1, smallest_less_1[i]);
  }
  if (threadIdx.x == 0) {
    to.channels[channel] = {channel_exists && conv_bias != nullptr ? conv_bias[channel] : 0.0f,
                            channel_exists ? b[channel] + 1.0f : 0.0f, all.unscaling(),
                            all.representable() ? all.unscaling_exponent() + 1 : 0};
  }
  const u32 out = channel % block_channels;
  unsigned char* const block = to.weights + u64(channel / block_channels) * weights_bytes;
#pragma unroll
  for (u32 i = 0; i < of_thread; ++i) {
    const u32 element = threadIdx.x + i * pack_threads;
    if (element >= elements) break;
    const u32 tap = element % 27;
    const u32 in = element / 27;
    const u32 step = (tap_slot(tap / 9) * 3 + tap_slot(tap / 3 % 3)) * steps + in / 16;
    unsigned char* const place =
        block + step * step_bytes + tap_slot(tap % 3) * tap_bytes + swizzled_32(out, in % 16 * 2);
    const float scaled = values[i] * all.scaling();
    const u32 high = to_fp16(scaled, 0.0f);
    *reinterpret_cast<unsigned short*>(place) = static_cast<unsigned short>(high);
    *reinterpret_cast<unsigned short*>(place + part_bytes) =
        static_cast<unsigned short>(low_pair(scaled, 0.0f, high));
  }
}
