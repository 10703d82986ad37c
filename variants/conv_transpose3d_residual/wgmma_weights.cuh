// Weights as the wgmma kernel keeps them: by block of 64 output channels and tap, high halves and low ones, in
// the very bytes of its shared memory. Made anew in every call.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_tiles.cuh"

constexpr float largest_bias = 0x1p60f;
constexpr u32 pack_threads = 256;
constexpr u32 pack_blocks = all_taps * tile_channels * block_channels / pack_threads;

// What `pack` leaves for the main kernel, and in `blocks` what it needs itself.
struct Prepared {
  unsigned char* weights;  // all_taps * tap_bytes for each block of channels
  // Of each channel, with padding. With C = conv_bias, y = (s + C) (2 (s + C) + b + 1)
  // = s (2 s + 4 C + b + 1) + C (2 C + b + 1): two instructions an output. Of several passes: C and b + 1.
  float2* coefficients;
  u32* unusual;   // pack_blocks flags for each block of channels
  u32* counters;  // two for each block of channels, 32 words apart: the next segment of each kind
  u32 blocks[2];  // of each kind: where the counters begin
};

// unusual: a weight that is not finite, or may become so when it is rounded, which zeros that pad x must not meet;
// or a bias whose square may overflow in the coefficients though y does not. The main kernel goes another way.
__device__ inline void pack(const Prepared& to, const float* w, const float* conv_bias,
                            const float* b, const Convolution& s) {
  let_next_kernel_start();
  const u32 of_block = blockIdx.x / pack_blocks;
  const u32 part = blockIdx.x - of_block * pack_blocks;
  const u32 i = part * pack_threads + threadIdx.x;
  if (i < 2) to.counters[(of_block * 2 + i) * 32] = to.blocks[i];
  bool large = false;
  if (i < block_channels) {
    const u32 channel = of_block * block_channels + i;
    const bool exists = channel < s.out_channels;
    const float own = exists && conv_bias != nullptr ? conv_bias[channel] : 0.0f;
    const float other = exists ? b[channel] + 1.0f : 0.0f;
    if (one_of_several) {
      to.coefficients[channel] = make_float2(own, other);
    } else {
      large = fabsf(own) > largest_bias;
      to.coefficients[channel] = make_float2(fmaf(4.0f, own, other), own * fmaf(2.0f, own, other));
    }
  }
  const u32 tap = i % 27;
  const u32 out = i / 27 % block_channels;
  const u32 in = i / (27 * block_channels);
  const u32 channel = of_block * block_channels + out;
  const bool exists = channel < s.out_channels && in < channels_of_pass(s);
  const float value = exists ? __ldg(w + (u64(in) * s.out_channels + channel) * 27 + tap) : 0.0f;
  keep_weight(to.weights + (of_block * all_taps + slot_of_tap(tap)) * tap_bytes, out, in, value);
  const bool unusual = __syncthreads_or(large || !(fabsf(value) <= largest_weight));
  if (threadIdx.x == 0) to.unusual[blockIdx.x] = unusual;
}
