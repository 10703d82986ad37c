// What a block of a doubling kernel knows beside its inputs, and what it does where weights are not finite.
#pragma once

#include "variants/conv_transpose3d_residual/parity_tiles.cuh"

// The host's DoublingArguments, in parity_plan.cpp.
struct DoublingArguments {
  float* y;
  const float* x;
  const float* w;
  const float* conv_bias;
  const float* b;
  const void* packed;
  const u32* flags;
  u32 wide;  // every float4 of y is aligned
};

// In shared memory, to be looked up where it is needed rather than kept in registers.
struct BlockState {
  Tile tile;
  u32 unusual;  // some channel has to be repaired
  float2 biases[block_channels];
};

// The block has to wait before it reads the biases; the tile is there at once.
__device__ inline void begin_block(BlockState& state, const DoublingArguments& arguments,
                                   const Convolution& s) {
  if (threadIdx.x == 0) state.tile = tile_of_block(s);
  __syncthreads();
  const u32 first = state.tile.channel;
  bool unusual = false;
  for (u32 i = threadIdx.x; i < block_channels && first + i < s.out_channels; i += blockDim.x) {
    unusual |= arguments.flags[first + i] != 0;
    state.biases[i] =
        make_float2(arguments.conv_bias == nullptr ? 0.0f : arguments.conv_bias[first + i],
                    arguments.b[first + i]);
  }
  unusual = __syncthreads_or(unusual);
  if (threadIdx.x == 0) state.unusual = unusual;
}

// Computes one channel of the tile again, by the definition: for weights with an infinity or a NaN, which must
// not meet the zeros that stand for absent inputs. The block has to wait for its other stores before this.
// Not inlined, so that it costs the usual path no registers.
template <u32 THREADS>
__device__ __noinline__ void repair_channel(float* y, const float* x, const float* w, float2 biases,
                                            const Convolution& s, const Tile& tile, u32 channel) {
  constexpr u32 columns = 2 * COLUMNS;
  for (u32 i = threadIdx.x; i < 2 * 2 * ROWS * columns; i += THREADS) {
    const u32 odd_d = i / (2 * ROWS * columns);
    const u32 row = i / columns % (2 * ROWS);
    const u32 column = i % columns;
    const u32 out_d = 2 * tile.d + odd_d;
    const u32 out_h = 2 * tile.h + row;
    const u32 out_w = 2 * tile.w + column;
    if (out_h >= s.output[1] || out_w >= s.output[2]) continue;
    const float sum = convolve_directly<4>(x, w, s, tile.item, channel, out_d, out_h, out_w);
    outputs_of(y, s, tile, channel, odd_d, 0)[u64(row) * s.output[2] + column] =
        exact_order(sum + biases.x, biases.y);
  }
}

// Ends a block: repairs the channels that need it.
template <u32 THREADS>
__device__ void repair_block(const DoublingArguments& arguments, const Convolution& s,
                             const BlockState& state) {
  __syncthreads();
  if (state.unusual == 0) return;
  for (u32 i = 0; i < block_channels && state.tile.channel + i < s.out_channels; ++i) {
    const u32 channel = state.tile.channel + i;
    if (arguments.flags[channel] == 0) continue;
    repair_channel<THREADS>(arguments.y, arguments.x, arguments.w, state.biases[i], s, state.tile,
                            channel);
  }
}
