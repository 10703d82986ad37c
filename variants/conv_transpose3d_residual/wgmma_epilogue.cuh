// y from an item's sums, and from those that the passes before left in it; and y by the definition, where the operands
// are not held in halves.
#pragma once

#include "harness/device/cuda/kernels/cache_policy.cuh"
#include "variants/conv_transpose3d_residual/kept_copies.cuh"
#include "variants/conv_transpose3d_residual/wgmma_products.cuh"

// What makes y of a thread's sums, and of what was there before.
#if PASS != 0
// Of several passes the first starts from the bias, so that all others only add; the last has b + 1 besides. What a
// channel has is loaded when it is needed, since no register holds it through the products.
struct Finish {
  struct OfHalf {
    float unscaling, own;  // own: the bias, or b + 1
    __device__ float operator()(float sum, float before) const {
      const float start = adds_to_y ? before : own;
      const float c = FUSEBENCH_SCALED ? fmaf(sum, unscaling, start) : sum + start;
      return finishes_y ? c * fmaf(2.0f, c, own) : c;
    }
  };
  __device__ OfHalf of(u32, const Arguments& a, u32 channel, Exponents exponents) const {
#if FUSEBENCH_SCALED
    const OfChannel& it = head()->channels[channel % block_channels];
    return {it.unscaling * power_of_two(exponents.first()), adds_to_y ? it.b_plus_1 : it.conv_bias};
#else
    const float2 it = __ldcg(a.prepared.coefficients + channel);
    return {1.0f, adds_to_y ? it.y : it.x};
#endif
  }
};
#elif FUSEBENCH_SCALED
struct Finish {
  OfChannel channels[2];
  struct OfHalf {
    float unscaling, conv_bias, b_plus_1;
    __device__ float operator()(float sum, float) const {
      const float c = fmaf(sum, unscaling, conv_bias);
      return c * fmaf(2.0f, c, b_plus_1);
    }
  };
  __device__ OfHalf of(u32 half, const Arguments&, u32, Exponents exponents) const {
    const OfChannel& of = channels[half];
    return {of.unscaling * power_of_two(exponents.first()), of.conv_bias, of.b_plus_1};
  }
};
#else
struct Finish {
  float2 coefficients[2];
  struct OfHalf {
    float2 coefficients;
    __device__ float operator()(float sum, float) const {
      return fmaf(sum, fmaf(2.0f, sum, coefficients.x), coefficients.y);
    }
  };
  __device__ OfHalf of(u32 half, const Arguments&, u32, Exponents) const {
    return {coefficients[half]};
  }
};
#endif

// Of an output in y.
__device__ inline u64 place_of(const Convolution& s, u32 n, u32 channel, u32 d, u32 h, u32 w) {
  return ((u64(n) * s.out_channels + channel) * s.output[0] + d) * s.output[1] * s.output[2] +
         u64(h) * s.output[2] + w;
}

// Where y will be read: its lines come to L2 while the products go on. Two threads a channel.
__device__ inline void fetch_before(const Arguments& a, const Item& item, u32 out_d, u32 odd_row) {
  const Convolution& s = a.s;
  const u32 thread = thread_now() % warpgroup;
  const u32 channel = a.of_block * block_channels + thread / 2;
  if (channel >= s.out_channels) return;
  const u32 columns = 2 * min(tile_columns, s.input[2] - item.w0);
#pragma unroll
  for (u32 i = 0; i < tile_rows / 2; ++i) {
    const u32 row = thread % 2 + 2 * i;
    if (item.h0 + row >= s.input[1]) break;
    const float* const from =
        a.y + place_of(s, item.n, channel, out_d, 2 * (item.h0 + row) + odd_row, 2 * item.w0);
    fetch_line_once(from);
    if (columns > 32) fetch_line_once(from + 32);
  }
}

// Of four columns of y so many as there are. Not by the read-only cache: the kernel writes them.
template <bool WHOLE>
__device__ inline float4 load_before(const float* place, u32 count) {
  if (WHOLE) return __ldcg(reinterpret_cast<const float4*>(place));
  float4 before = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (count > 0) {
    before.x = __ldcg(place);
    before.y = __ldcg(place + 1);
  }
  if (count > 2) {
    before.z = __ldcg(place + 2);
    before.w = __ldcg(place + 3);
  }
  return before;
}

// Of a thread in an item, found anew: the last pass has no registers that keep it from the item's beginning.
__device__ inline float* place_of_second_half(const Arguments& a, u32 index, u32 odd_plane,
                                              u32 odd_row) {
  asm volatile("" : "+r"(index));
  const Item item = item_at(a.tiles, index);
  const u32 thread = thread_now();
  const u32 channel =
      a.of_block * block_channels + thread % warpgroup / 32 * 16 + thread % 32 / 4 + 8;
  return a.y + place_of(a.s, item.n, channel, 2 * item.d + odd_plane, 2 * item.h0 + odd_row,
                        2 * item.w0 + thread % 4 * 4);
}

// A thread's part of y: two channels, 8 apart, and in each row of the tile four times four columns. WHOLE: all
// of it exists, and rows begin at multiples of 16 bytes.
template <bool WHOLE>
__device__ inline void write_item(const Sums& sums, const Arguments& a, const Item& item,
                                  const Finish& finish_all, Exponents exponents, u32 index,
                                  u32 out_d, u32 odd_row) {
  const Convolution& s = a.s;
  const u32 thread = thread_now();
  const u32 lane = thread % 32;
  const u32 quarter = lane % 4;
  const u32 neighbour = (lane & ~3u) | ((quarter + 1) & 3);
  const u32 channel = a.of_block * block_channels + thread % warpgroup / 32 * 16 + lane / 4;
  const u32 left = s.input[2] - item.w0;
  const u32 columns = 2 * (left > tile_columns ? column_step : left);
  float* to = a.y + (u64(item.n) * s.out_channels + channel) * (s.outputs_of_channel) +
              (u64(out_d) * s.output[1] + 2 * item.h0 + odd_row) * s.output[2] + 2 * item.w0 +
              4 * quarter;
#pragma unroll
  for (u32 half = 0; half < 2; ++half, to += 8 * s.outputs_of_channel) {
    if (PASS == 3 && half == 1) to = place_of_second_half(a, index, out_d % 2, odd_row);
    const auto finish = finish_all.of(half, a, channel + 8 * half, exponents);
#pragma unroll
    for (u32 row = 0; row < tile_rows; ++row) {
      constexpr u32 together = WHOLE ? 4 : 1;
      float4 before[4] = {};
#pragma unroll
      for (u32 group = 0; group < 4; ++group) {
        const u32 at = 4 * (4 * row + group) + 2 * half;
        // Tap 0 of the next column: its neighbour holds it, in the next group of 8 for the last of four.
        const float next_group = group == 3 ? 0.0f : sums.tap0[at + (group == 3 ? 0 : 4)];
        const float given = quarter == 0 ? next_group : sums.tap0[at];
        const float next = __shfl_sync(~0u, given, neighbour);
        // Of a whole row all together, before its first store: each would else wait for the one before it. Where some may
        // not exist, registers do not suffice for that.
        if (adds_to_y && group % together == 0) {
#pragma unroll
          for (u32 i = group; i < group + together; ++i) {
            const u32 column = i * 16 + 4 * quarter;
            const bool exists = channel + 8 * half < s.out_channels && item.h0 + row < s.input[1] &&
                                column < columns;
            before[i] = load_before<WHOLE>(to + row * 2 * s.output[2] + i * 16,
                                           exists ? columns - column : 0);
          }
        }
        const float4 value = make_float4(finish(sums.tap1[at], before[group].x),
                                         finish(sums.tap2[at] + sums.tap0[at + 1], before[group].y),
                                         finish(sums.tap1[at + 1], before[group].z),
                                         finish(sums.tap2[at + 1] + next, before[group].w));
        float* const place = to + row * 2 * s.output[2] + group * 16;
        if (WHOLE) {
          STORE(reinterpret_cast<float4*>(place), value);
          continue;
        }
        const u32 column = group * 16 + 4 * quarter;
        if (channel + 8 * half >= s.out_channels || item.h0 + row >= s.input[1]) continue;
        if (column >= columns) continue;
        place[0] = value.x;
        place[1] = value.y;
        if (column + 2 >= columns) continue;
        place[2] = value.z;
        place[3] = value.w;
      }
    }
  }
}

// An output by the definition; of several passes, what this one's channels give to it.
__device__ inline void write_directly(const Arguments& a, u32 n, u32 channel, u32 d, u32 h, u32 w) {
  const Convolution& s = a.s;
  const float sum = convolve_directly<1>(a.x, a.w, s, n, channel, d, h, w);
  const float start = adds_to_y                ? __ldcg(a.y + place_of(s, n, channel, d, h, w))
                      : a.conv_bias == nullptr ? 0.0f
                                               : __ldg(a.conv_bias + channel);
  const float c = sum + start;
  a.y[place_of(s, n, channel, d, h, w)] =
      finishes_y ? c * fmaf(2.0f, c, __ldg(a.b + channel) + 1.0f) : c;
}

// An item's outputs of one parity, whose planes are not held as halves.
__device__ inline void write_item_directly(const Arguments& a, const Item& item, u32 out_d,
                                           u32 odd_row) {
  const u32 channels = min(block_channels, a.s.out_channels - a.of_block * block_channels);
  const u32 rows = min(tile_rows, a.s.input[1] - item.h0);
  const u32 left = a.s.input[2] - item.w0;
  const u32 columns = 2 * (left > tile_columns ? column_step : left);
  for (u32 i = thread_now() % warpgroup; i < channels * rows * columns; i += warpgroup) {
    const u32 line = i / columns;
    write_directly(a, item.n, a.of_block * block_channels + line / rows, out_d,
                   2 * (item.h0 + line % rows) + odd_row, 2 * item.w0 + i - line * columns);
  }
  // Or the compiler takes it that the warp has parted for good, and keeps what all lanes share in registers of each.
  if (one_of_several) __syncwarp();
}

#if !FUSEBENCH_SCALED
// All of it, for weights and biases that `pack` found unusual.
__device__ inline void write_all_directly(const Arguments& a) {
  const Convolution& s = a.s;
  const u32 first = a.of_block * block_channels;
  const u32 channels = min(block_channels, s.out_channels - first);
  const u64 positions = u64(s.output[0]) * s.output[1] * s.output[2];
  const u64 count = u64(s.n) * channels * positions;
  for (u64 i = blockIdx.x * u64(all_threads) + threadIdx.x; i < count;
       i += u64(gridDim.x) * all_threads) {
    const u64 volume = i / positions;
    const u32 n = volume / channels;
    const u64 position = i - volume * positions;
    const u32 line = position / s.output[2];
    write_directly(a, n, first + (volume - u64(n) * channels), line / s.output[1],
                   line % s.output[1], position - u64(line) * s.output[2]);
  }
}
#endif
