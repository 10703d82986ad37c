// Weights of the wgmma kernel as scaled fp16 halves: each output channel's under a power of two of its own. In the
// order of wgmma_weights.cuh.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_tiles.cuh"

constexpr u32 pack_threads = 256;
constexpr u32 pack_blocks = block_channels;  // one an output channel

// What `pack` leaves for the main kernel, and in `blocks` what it needs itself.
struct Prepared {
  unsigned char* weights;  // all_taps * tap_bytes for each block of channels
  OfChannel* channels;     // with padding
  u32* unusual;            // not used: channels say it
  u32* counters;  // two for each block of channels, 32 words apart: the next segment of each kind
  u32 blocks[2];  // of each kind: where the counters begin
};

// A block packs the weights of one output channel.
__device__ inline void pack(const Prepared& to, const float* w, const float* conv_bias,
                            const float* b, const Convolution& s) {
  constexpr u32 elements = 27 * tile_channels;
  constexpr u32 of_thread = (elements + pack_threads - 1) / pack_threads;
  let_next_kernel_start();
  const u32 channel = blockIdx.x;
  const u32 of_block = channel / block_channels;
  const u32 out = channel % block_channels;
  if (out == 0 && threadIdx.x < 2) {
    to.counters[(of_block * 2 + threadIdx.x) * 32] = to.blocks[threadIdx.x];
  }
  const bool channel_exists = channel < s.out_channels;
  float values[of_thread];
  Magnitudes mine;
#pragma unroll
  for (u32 i = 0; i < of_thread; ++i) {
    const u32 element = threadIdx.x + i * pack_threads;
    const u32 in = element / 27;
    const bool exists = channel_exists && in < channels_of_pass(s);
    values[i] = exists ? __ldg(w + (u64(in) * s.out_channels + channel) * 27 + element % 27) : 0.0f;
    mine.meet(values[i]);
  }
  __shared__ u32 met[pack_threads / 32][2];
  const Magnitudes of_warp = mine.of_warp();
  met[threadIdx.x / 32][0] = of_warp.largest;
  met[threadIdx.x / 32][1] = of_warp.smallest_less_1;
  __syncthreads();
  Magnitudes all;
  for (u32 i = 0; i < pack_threads / 32; ++i) all.meet({met[i][0], met[i][1]});
  if (threadIdx.x == 0) {
    to.channels[channel] = {channel_exists && conv_bias != nullptr ? conv_bias[channel] : 0.0f,
                            channel_exists ? b[channel] + 1.0f : 0.0f, all.unscaling(),
                            all.representable() ? all.unscaling_exponent() + 1 : 0};
  }
#pragma unroll
  for (u32 i = 0; i < of_thread; ++i) {
    const u32 element = threadIdx.x + i * pack_threads;
    if (element >= elements) break;
    keep_weight(to.weights + (of_block * all_taps + slot_of_tap(element % 27)) * tap_bytes, out,
                element / 27, values[i] * all.scaling());
  }
}
