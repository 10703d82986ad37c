// ConvTranspose3d with the residual epilogue in one kernel of wgmma instructions, within float32's contract: each
// operand as two fp16 with a common scale, three products. wgmma_strip_weights.cuh has the picture,
// wgmma_scaled_halves.cuh the numbers.
//
// Nothing passes between warps: a warp reads the x that its strip needs into registers, splits it there and
// holds it as the left operand of all products. While one warpgroup waits for x or writes, the others multiply.
#pragma once

#include "harness/device/cuda/kernels/cache_policy.cuh"
#include "variants/conv_transpose3d_residual/wgmma_strip_rows.cuh"

constexpr u32 warpgroup = 128;
constexpr u32 all_threads = GROUPS * warpgroup;

constexpr u32 head_bytes = 2048;
struct Head {
  u64 weights;                            // barrier: they have come
  u32 least_exponent, greatest_exponent;  // of the channels' unscaling
  alignas(16) OfChannel channels[block_channels];
};
static_assert(sizeof(Head) <= head_bytes);
extern __shared__ __align__(1024) unsigned char shared[];
__device__ inline Head* head() { return reinterpret_cast<Head*>(shared); }
__device__ inline u32 weights_address() { return shared_address(shared) + head_bytes; }

// ---- Products

// Of one depth and row parity: y[2w] of all channels, then y[2w + 1].
struct Sums {
  float even[block_channels / 2], odd[block_channels / 2];
};

__device__ inline void add_products(Sums& sums, const u32 (&x)[4], const u32 (&right)[4], u64 taps,
                                    u32 add) {
  wgmma_f16(sums.even, x, taps, add);
  wgmma_f16(sums.odd, x, moved(taps, tap_bytes), add);
  wgmma_f16(sums.odd, right, moved(taps, 2 * tap_bytes), 1);
}

// What a row of x gives to the outputs of these parities: a high by a low and a low by a high, in units of 2^-11 ...
__device__ inline void multiply_lows(Sums& sums, const Row& row, u32 taps, bool from_zero) {
#pragma unroll
  for (u32 step = 0; step < steps; ++step) {
    u32 right_high[4], right_low[4];
    shift(right_high, row.high[step], row.beyond, step, 0);
    shift(right_low, row.low[step], row.beyond, step, 1);
    const u64 highs = matrix_32(taps + step * step_bytes);
    wgmma_begin();
    add_products(sums, row.high[step], right_high, moved(highs, part_bytes),
                 !(from_zero && step == 0));
    add_products(sums, row.low[step], right_low, highs, 1);
    wgmma_end();
    wgmma_results(sums.even);
    wgmma_results(sums.odd);
  }
}
// ... and a high by a high.
__device__ inline void multiply_highs(Sums& sums, const Row& row, u32 taps) {
#pragma unroll
  for (u32 step = 0; step < steps; ++step) {
    u32 right[4];
    shift(right, row.high[step], row.beyond, step, 0);
    wgmma_begin();
    add_products(sums, row.high[step], right, matrix_32(taps + step * step_bytes), 1);
    wgmma_end();
    wgmma_results(sums.even);
    wgmma_results(sums.odd);
  }
}

__device__ inline void multiply(Sums& sums, const Row (&rows)[window_rows], u32 odd_plane,
                                u32 odd_row) {
#pragma unroll
  for (u32 i = 0; i < window_rows; ++i) {
    if (i / 2 > odd_plane || i % 2 > odd_row) continue;
    const u32 tap = (odd_plane + i / 2) * 3 + odd_row + i % 2;
    multiply_lows(sums, rows[i], weights_address() + tap * steps * step_bytes, i == 0);
  }
#pragma unroll
  for (u32 i = 0; i < block_channels / 2; ++i) {
    sums.even[i] *= 1.0f / low_scale;
    sums.odd[i] *= 1.0f / low_scale;
  }
#pragma unroll
  for (u32 i = 0; i < window_rows; ++i) {
    if (i / 2 > odd_plane || i % 2 > odd_row) continue;
    const u32 tap = (odd_plane + i / 2) * 3 + odd_row + i % 2;
    multiply_highs(sums, rows[i], weights_address() + tap * steps * step_bytes);
  }
}

// ---- y

// `sum` times `unscaling` is the convolution without its own bias.
__device__ inline float finish(float sum, float unscaling, float conv_bias, float b_plus_1) {
  const float c = fmaf(sum, unscaling, conv_bias);
  return c * fmaf(2.0f, c, b_plus_1);
}

template <bool WHOLE>
__device__ inline void write(const Sums& sums, const Arguments& a, const Strip& strip,
                             float unscaling, u32 odd_plane, u32 odd_row) {
  const Convolution& s = a.s;
  const u32 lane = threadIdx.x % 32;
  const u32 left = s.out_channels - a.of_block * block_channels;
  // Eight lanes hold four channels' two pairs of columns each; one channel's eight is a whole line to write.
  const u32 giver = lane % 4 * 8 + lane / 4 % 2 * 4 + lane / 8;
  const u32 w = giver / 4 * 2;
  const u32 channel = lane / 8 * 2;
  const bool wide = WHOLE || (s.input[2] % 2 == 0 && (reinterpret_cast<u64>(a.y) & 15) == 0);
  const u32 of_channel = a.strips.outputs;
  const u32 mine = (strip.n * s.out_channels + a.of_block * block_channels + channel) * of_channel +
                   ((2 * strip.d + odd_plane) * s.output[1] + 2 * strip.h + odd_row) * s.output[2] +
                   2 * (strip.w + w);
#pragma unroll
  for (u32 group = 0; group < block_channels / 8; ++group) {
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      const OfChannel& of = head()->channels[8 * group + lane % 4 * 2 + i];
      const float4 v = load_shared(shared_address(&of));
      const float all = v.z * unscaling;
      const u32 at = 4 * group + i;
      float4 value;
      value.x = __shfl_sync(~0u, finish(sums.even[at], all, v.x, v.y), giver);
      value.y = __shfl_sync(~0u, finish(sums.odd[at], all, v.x, v.y), giver);
      value.z = __shfl_sync(~0u, finish(sums.even[at + 2], all, v.x, v.y), giver);
      value.w = __shfl_sync(~0u, finish(sums.odd[at + 2], all, v.x, v.y), giver);
      float* const to = a.y + (mine + (8 * group + i) * of_channel);
      if (WHOLE) {
        STORE(reinterpret_cast<float4*>(to), value);
        continue;
      }
      if (w >= strip.columns || channel + 8 * group + i >= left) continue;
      if (wide) {
        STORE(reinterpret_cast<float4*>(to), value);
      } else {
        to[0] = value.x;
        to[1] = value.y;
        if (w + 1 == strip.columns) continue;
        to[2] = value.z;
        to[3] = value.w;
      }
    }
  }
}

// An output by the definition.
__device__ inline void write_directly(const Arguments& a, u32 n, u32 channel, u32 d, u32 h, u32 w) {
  const Convolution& s = a.s;
  const OfChannel& of = a.prepared.channels[channel];
  const float sum = convolve_directly(a.x, a.w, s, n, channel, d, h, w);
  a.y[((u64(n) * s.out_channels + channel) * s.output[0] + d) * s.output[1] * s.output[2] +
      u64(h) * s.output[2] + w] = finish(sum, 1.0f, of.conv_bias, of.b_plus_1);
}

// A strip whose magnitudes lie too far apart for a common scale, or are not finite.
__device__ inline void write_strip_directly(const Arguments& a, const Strip& strip) {
  const u32 channels = min(block_channels, a.s.out_channels - a.of_block * block_channels);
  const u32 columns = 2 * min(strip_columns, strip.columns);
  for (u32 i = threadIdx.x % 32; i < 4 * channels * columns; i += 32) {
    const u32 line = i / columns;
    write_directly(a, strip.n, a.of_block * block_channels + line / 4, 2 * strip.d + line / 2 % 2,
                   2 * strip.h + line % 2, 2 * strip.w + i % columns);
  }
}

// All of it, for weights that cannot be held as halves; those that are not finite must not meet zeros that pad
// x.
__device__ inline void write_all_directly(const Arguments& a) {
  for (u32 i = blockIdx.x * (all_threads / 32) + threadIdx.x / 32; i < a.strips.count;
       i += gridDim.x * (all_threads / 32)) {
    write_strip_directly(a, strip_at(a, i));
  }
}

// ----

template <bool WHOLE>
__device__ inline void do_strips(const Arguments& a) {
  const u32 barrier = shared_address(&head()->weights);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_init_done();
    head()->least_exponent = ~0u;
    head()->greatest_exponent = 0;
  }
  __syncthreads();
  wait_for_kernel_before();
  bool unusual = false;
  if (threadIdx.x < block_channels) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(
        a.prepared.channels + a.of_block * block_channels + threadIdx.x));
    reinterpret_cast<float4*>(head()->channels)[threadIdx.x] = v;
    const u32 exponent = __float_as_uint(v.w);
    unusual = exponent == 0;
    atomicMin(&head()->least_exponent, exponent - 1);
    atomicMax(&head()->greatest_exponent, exponent - 1);
  }
  if (__syncthreads_or(unusual)) {
    write_all_directly(a);
    return;
  }
  if (threadIdx.x == 0) {
    const unsigned char* from = a.prepared.weights + u64(a.of_block) * weights_bytes;
    barrier_arrive_expecting(barrier, weights_bytes);
#pragma unroll 1
    for (u32 step = 0; step < 9 * steps; ++step) {
      bulk_copy(weights_address() + step * step_bytes, from + step * step_bytes, step_bytes,
                barrier);
    }
  }
  // Exponents of unscaling: the product of x's and any channel's must be a normal number.
  const u32 least = 128 - min(128u, head()->least_exponent);
  const u32 greatest = 381 - head()->greatest_exponent;
  // Uniform, or wgmma is serialised.
  const u32 group = __shfl_sync(~0u, threadIdx.x / warpgroup, 0);
  const u32 warp = __shfl_sync(~0u, threadIdx.x % warpgroup / 32, 0);
  const u32 step = gridDim.x * GROUPS;
  bool weights_came = false;
  for (u32 tile = group * gridDim.x + blockIdx.x; __any_sync(~0u, 4 * tile < a.strips.count);
       tile += step) {
    const Strip strip = strip_at(a, 4 * tile + warp);
    Row rows[window_rows];
    float unscaling;
    bool representable;
    {
      Read reads[window_rows];
#pragma unroll
      for (u32 i = 0; i < window_rows; ++i) read<WHOLE>(reads[i], a, strip, i);
      Magnitudes mine;
#pragma unroll
      for (u32 i = 0; i < window_rows; ++i) meet(mine, reads[i]);
      const Magnitudes all = mine.of_warp();
      representable = all.representable() && all.unscaling_exponent() >= least &&
                      all.unscaling_exponent() <= greatest;
      unscaling = all.unscaling();
#pragma unroll
      for (u32 i = 0; i < window_rows; ++i) split(rows[i], reads[i], all.scaling());
    }
    if (!weights_came) barrier_wait(barrier, 0);
    weights_came = true;
#pragma unroll 1
    for (u32 parity = 0; parity < 4; ++parity) {
      Sums sums;
      multiply(sums, rows, parity / 2, parity % 2);
      if (strip.columns == 0 || !representable) continue;
      write<WHOLE>(sums, a, strip, unscaling, parity / 2, parity % 2);
    }
    if (strip.columns != 0 && !representable) write_strip_directly(a, strip);
  }
}

extern "C" __global__ void __launch_bounds__(pack_threads)
    pack(const __grid_constant__ Arguments a) {
  pack(a.prepared, a.w, a.conv_bias, a.b, a.s);
}

extern "C" __global__ void __launch_bounds__(all_threads, 1)
    convolve_whole(const __grid_constant__ Arguments a) {
  do_strips<true>(a);
}
extern "C" __global__ void __launch_bounds__(all_threads, 1)
    convolve_any(const __grid_constant__ Arguments a) {
  do_strips<false>(a);
}
