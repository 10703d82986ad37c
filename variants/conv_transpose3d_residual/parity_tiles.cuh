// The tiles in which kernels double a volume: a block's input positions with their halo, which outputs come
// of them, and how those are stored.
//
// Along a dimension the output 2i takes tap 1 from the input i; the output 2i + 1 takes tap 2 from i and tap
// 0 from i + 1, where that exists. So eight kinds of outputs are eight small convolutions of the same inputs.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/residual_epilogue/epilogue.cuh"

constexpr u32 block_channels = 64;  // output channels of a block
constexpr u32 chunk_channels = 32;  // input channels in shared memory at a time
constexpr u32 halo_rows = ROWS + 1;
constexpr u32 halo_columns = COLUMNS + 1;
constexpr u32 halo_positions = 2 * halo_rows * halo_columns;  // planes d and d + 1

__device__ constexpr u32 halo_position(u32 plane, u32 row, u32 column) {
  return (plane * halo_rows + row) * halo_columns + column;
}

// The same number, of which the compiler knows nothing: what follows from it is computed where it is needed,
// and not before a loop that has no registers to keep it in.
__device__ inline u32 opaque(u32 number) {
  asm volatile("" : "+r"(number));
  return number;
}

// Where a block's part of the problem begins: item and output channel, then input positions.
struct Tile {
  u32 item, channel, d, h, w;
};

// Output channels vary fastest, so that the blocks that read the same inputs run together.
__device__ inline Tile tile_of_block(const Convolution& s) {
  u32 rest = blockIdx.x;
  const auto take = [&rest](u32 count) {
    const u32 quotient = rest / count;
    const u32 index = rest - quotient * count;
    rest = quotient;
    return index;
  };
  Tile tile;
  tile.channel = take((s.out_channels + block_channels - 1) / block_channels) * block_channels;
  tile.w = take((s.input[2] + COLUMNS - 1) / COLUMNS) * COLUMNS;
  tile.h = take((s.input[1] + ROWS - 1) / ROWS) * ROWS;
  tile.d = take(s.input[0]);
  tile.item = rest;
  return tile;
}

// Calls put(position in the halo, octet, values) for eight input channels from first_channel + 8 * octet on.
// What lies outside of x is 0.
template <u32 THREADS, typename Put>
__device__ void stage_halo(const float* x, const Convolution& s, const Tile& tile,
                           u32 first_channel, const Put& put) {
  constexpr u32 octets = chunk_channels / 8;
#pragma unroll 1
  for (u32 i = threadIdx.x; i < octets * halo_positions; i += THREADS) {
    const u32 octet = i / halo_positions;
    const u32 position = i - octet * halo_positions;
    const u32 line = position / halo_columns;
    const u32 plane = line / halo_rows;
    const u32 d = tile.d + plane;
    const u32 h = tile.h + line - plane * halo_rows;
    const u32 w = tile.w + position - line * halo_columns;
    const u32 channel = first_channel + octet * 8;
    const u32 usable = d < s.input[0] && h < s.input[1] && w < s.input[2] && channel < s.in_channels
                           ? s.in_channels - channel
                           : 0;
    const float* from = x + (u64(tile.item) * s.in_channels + channel) * s.positions +
                        (u64(d) * s.input[1] + h) * s.input[2] + w;
    float values[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) values[k] = k < usable ? __ldg(from + k * s.positions) : 0.0f;
    put(position, octet, values);
  }
}

// Outputs of one channel and one plane and row parity: where those of the tile's first position are.
__device__ inline float* outputs_of(float* y, const Convolution& s, const Tile& tile, u32 channel,
                                    u32 odd_d, u32 odd_h) {
  const u64 plane = (u64(tile.item) * s.out_channels + channel) * s.output[0] + 2 * tile.d + odd_d;
  return y + (plane * s.output[1] + 2 * tile.h + odd_h) * s.output[2] + 2 * u64(tile.w);
}

// Stores the outputs of input columns w and w + 1, the second only where it exists. Where y and every row of
// it is aligned to 16 bytes, `wide`, they both do.
__device__ inline void store_four(float* to, float4 v, bool wide, bool second) {
  if (wide) {
    STORE(reinterpret_cast<float4*>(to), v);
    return;
  }
  STORE(to, v.x);
  STORE(to + 1, v.y);
  if (!second) return;
  STORE(to + 2, v.z);
  STORE(to + 3, v.w);
}
