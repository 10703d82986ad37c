// A convolution's sizes in a kernel.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

// The host's KernelConvolution.
struct Convolution {
  u64 outputs;    // elements of y
  u64 positions;  // of one input channel
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
