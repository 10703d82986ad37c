// Strips of x as left operands of wgmma: read, scaled, split in two halves, and shifted by a column.
#pragma once

#include "variants/conv_transpose3d_residual/kept_loads.cuh"
#include "variants/conv_transpose3d_residual/wgmma_strip_weights.cuh"

struct Strips {
  Divisor columns, rows, depth;  // strips of a row, rows, planes
  u32 count;
  u32 positions, outputs;  // elements of a channel of x and y
};

struct Arguments {
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  Convolution s;
  Strips strips;
  u32 of_block;  // which of the blocks of output channels
};

struct Strip {
  u32 n, d, h, w;
  u32 columns;  // of its row from here on; 0: there is no strip
};
__device__ inline Strip strip_at(const Arguments& a, u32 index) {
  const Convolution& s = a.s;
  Strip strip;
  const u32 line = a.strips.columns.quotient(index);
  strip.w = (index - line * a.strips.columns.divisor) * strip_columns;
  const u32 plane = a.strips.rows.quotient(line);
  strip.h = line - plane * s.input[1];
  strip.n = a.strips.depth.quotient(plane);
  strip.d = plane - strip.n * s.input[0];
  strip.columns = index < a.strips.count ? s.input[2] - strip.w : 0;
  return strip;
}

// A strip's outputs take from four rows of x: h and h + 1 of planes d and d + 1, here at 2 plane + row. Lane
// 4g + q reads columns 2g and 2g + 1 of the channels that it holds of a left operand, and of column 16 a pair of
// channels for another lane.
constexpr u32 window_rows = 4;
struct Read {
  float2 value[4 * steps];
  float beyond[2];
};
// WHOLE: all strips are, all channels of a block exist, rows are aligned.
template <bool WHOLE>
__device__ inline void read(Read& to, const Arguments& a, const Strip& strip, u32 i) {
  const Convolution& s = a.s;
  const u32 lane = threadIdx.x % 32;
  const u32 of_channel = a.strips.positions;
  const u64 policy = keep_policy();
  const bool wide = WHOLE || (s.input[2] % 2 == 0 && (reinterpret_cast<u64>(a.x) & 7) == 0);
  const u32 w = lane / 4 * 2;
  const u32 d = strip.d + i / 2;
  const u32 h = strip.h + i % 2;
  const bool exists = strip.columns != 0 && d < s.input[0] && h < s.input[1];
  const u32 row =
      strip.n * s.in_channels * of_channel + (d * s.input[1] + h) * s.input[2] + strip.w;
  const u32 mine = row + lane % 4 * 2 * of_channel + w;
#pragma unroll
  for (u32 c = 0; c < 4 * steps; ++c) {
    const u32 channel = c / 4 * 16 + c % 4 / 2 * 8 + c % 2;
    const bool here =
        exists && (WHOLE || (channel + lane % 4 * 2 < s.in_channels && w < strip.columns));
    const float* const at = a.x + (mine + channel * of_channel);
    if (wide) {
      to.value[c] = load_kept(reinterpret_cast<const float2*>(at), here, policy);
    } else {
      to.value[c].x = load_kept(at, here, policy);
      to.value[c].y = load_kept(at + 1, here && w + 1 < strip.columns, policy);
    }
  }
  // Lanes of lows have theirs from those of highs.
  const u32 first = lane / 16 * 16 + lane / 4 % 2 * 8 + lane % 4 * 2;
#pragma unroll
  for (u32 c = 0; c < 2; ++c) {
    to.beyond[c] = load_kept(a.x + (row + (first + c) * of_channel + strip_columns),
                             exists && lane % 16 < 8 && strip_columns < strip.columns &&
                                 (WHOLE || first + c < s.in_channels),
                             policy);
  }
}

__device__ inline void meet(Magnitudes& magnitudes, const Read& row) {
#pragma unroll
  for (u32 c = 0; c < 4 * steps; ++c) {
    magnitudes.meet(row.value[c].x);
    magnitudes.meet(row.value[c].y);
  }
  magnitudes.meet(row.beyond[0]);
  magnitudes.meet(row.beyond[1]);
}

// As left operands: columns 2g and 2g + 1 are rows g and g + 8 of the matrix.
struct Row {
  u32 high[steps][4];
  u32 low[steps][4];
  // Of column 16: lane 4 (4 step + i) + q holds for lane 28 + q what that step needs, highs for i < 2.
  u32 beyond;
};
__device__ inline void split_pair(u32& high, u32& low, float first, float second, float scaling) {
  const float a = first * scaling;
  const float b = second * scaling;
  high = to_fp16(a, b);
  low = low_pair(a, b, high);
}
__device__ inline void split(Row& to, const Read& from, float scaling) {
#pragma unroll
  for (u32 step = 0; step < steps; ++step) {
    const float2* const v = from.value + 4 * step;
    u32(&high)[4] = to.high[step];
    u32(&low)[4] = to.low[step];
    split_pair(high[0], low[0], v[0].x, v[1].x, scaling);
    split_pair(high[1], low[1], v[0].y, v[1].y, scaling);
    split_pair(high[2], low[2], v[2].x, v[3].x, scaling);
    split_pair(high[3], low[3], v[2].y, v[3].y, scaling);
  }
  const u32 lane = threadIdx.x % 32;
  u32 high, low;
  split_pair(high, low, from.beyond[0], from.beyond[1], scaling);
  const u32 given = __shfl_sync(~0u, low, lane & ~8u);
  to.beyond = lane % 16 < 8 ? high : given;
}

// The operand one column to the right: half of it stands in the other rows of this lane, half in the lane of
// the next two columns.
__device__ inline void shift(u32 (&to)[4], const u32 (&from)[4], u32 beyond, u32 step, u32 part) {
  const u32 holder = 4 * (4 * step + 2 * part);
  const u32 first = __shfl_down_sync(~0u, from[0], 4);
  const u32 second = __shfl_down_sync(~0u, from[2], 4);
  const u32 first_beyond = __shfl_up_sync(~0u, beyond, 28 - holder);
  const u32 second_beyond = __shfl_up_sync(~0u, beyond, 24 - holder);
  const bool last = threadIdx.x % 32 >= 28;
  to[0] = from[1];
  to[1] = last ? first_beyond : first;
  to[2] = from[3];
  to[3] = last ? second_beyond : second;
}
