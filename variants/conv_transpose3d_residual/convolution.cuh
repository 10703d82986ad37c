// A convolution's sizes in a kernel.
#pragma once

#include "variants/conv_transpose3d_residual/divisor.hd.hpp"

using namespace fusebench::conv_transpose3d_residual;

typedef unsigned int u32;
typedef unsigned long long u64;

// The host's KernelConvolution.
struct Convolution {
  u64 outputs;    // elements of y
  u64 positions;  // of one input channel
  u64 outputs_of_channel;
  u32 n, in_channels, out_channels, in_of_group, out_of_group, taps;
  u32 input[3], output[3], kernel[3], stride[3], padding[3], dilation[3];
};

// In one dimension the output at `out` takes from the input at `in` through `tap`; false when there is
// no such input.
__device__ inline bool find_source(const Convolution& s, u32 dimension, u32 out, u32 tap, u32& in) {
  const u32 reach = tap * s.dilation[dimension];
  const u32 shifted = out + s.padding[dimension];
  if (shifted < reach || (shifted - reach) % s.stride[dimension] != 0) return false;
  in = (shifted - reach) / s.stride[dimension];
  return in < s.input[dimension];
}

// The sum of one output by the definition, in float32 and without the convolution's own bias. UNROLL: of the loop over channels;
// 1 where the code that is seldom run should be short.
template <u32 UNROLL>
__device__ inline float convolve_directly(const float* x, const float* w, const Convolution& s,
                                          u32 item, u32 channel, u32 out_d, u32 out_h, u32 out_w) {
  const u32 group = channel / s.out_of_group;
  const float* x_item = x + (u64(item) * s.in_channels + u64(group) * s.in_of_group) * s.positions;
  const float* w_channel =
      w + (u64(group) * s.in_of_group * s.out_of_group + channel % s.out_of_group) * s.taps;
  const u64 w_step = u64(s.out_of_group) * s.taps;
  float sum = 0.0f;
  for (u32 kd = 0; kd < s.kernel[0]; ++kd) {
    u32 in_d, in_h, in_w;
    if (!find_source(s, 0, out_d, kd, in_d)) continue;
    for (u32 kh = 0; kh < s.kernel[1]; ++kh) {
      if (!find_source(s, 1, out_h, kh, in_h)) continue;
      for (u32 kw = 0; kw < s.kernel[2]; ++kw) {
        if (!find_source(s, 2, out_w, kw, in_w)) continue;
        const float* from = x_item + (u64(in_d) * s.input[1] + in_h) * s.input[2] + in_w;
        const float* by = w_channel + (kd * s.kernel[1] + kh) * s.kernel[2] + kw;
#pragma unroll UNROLL
        for (u32 c = 0; c < s.in_of_group; ++c) {
          sum = fmaf(__ldg(from), __ldg(by), sum);
          from += s.positions;
          by += w_step;
        }
      }
    }
  }
  return sum;
}
