// One output element of a ConvTranspose3d in float64, and what its error scales with. Plain loops that
// anyone can check: the device's oracle as it stands, and what the host's faster loops are held to, bit for
// bit (convolve_range.hpp).
#pragma once

#include "harness/core/generator.hd.hpp"

namespace fusebench {

/// Of ConvTranspose3d what an element depends on; each below 2^30.
struct ConvolutionSizes {
  unsigned in_channels, out_channels, groups;
  unsigned input[3], output[3], kernel[3], stride[3], padding[3], dilation[3];
};

/// The output at `out` takes from the input at `in` through the kernel's `tap`, in one dimension.
/// False when that input does not exist.
[[nodiscard]] constexpr bool find_source(const ConvolutionSizes& s, unsigned dimension,
                                         unsigned out, unsigned tap, unsigned& in) noexcept {
  const unsigned reach = tap * s.dilation[dimension];
  const unsigned shifted = out + s.padding[dimension];
  if (shifted < reach || (shifted - reach) % s.stride[dimension] != 0) return false;
  in = (shifted - reach) / s.stride[dimension];
  return in < s.input[dimension];
}

/// A sum of products, and what its error scales with (docs/verification.md).
struct ConvolutionSum {
  double value = 0.0;
  /// S: the sum of their sizes, least_product more for each, which covers what rounding it loses to
  /// underflow. From 256 products on it grows as the square root of their number besides, as roundings
  /// that go either way add up.
  double size = 0.0;
  double operands = 0.0;  ///< the sum of the operands' sizes; NaN exactly when a NaN went in
};
inline constexpr double least_product = 0x1p-131;

/// S from the sum of the sizes of so many products.
[[nodiscard]] constexpr double grown(double size, unsigned long long products) noexcept {
  size += static_cast<double>(products) * least_product;
  for (unsigned long long most = 256; most < products; most *= 4) size *= 2.0;
  return size;
}

/// Element `index` of the output. `bias` is null where there is none.
[[nodiscard]] inline ConvolutionSum convolve(const ConvolutionSizes& s, const float* x,
                                             const float* w, const float* bias,
                                             unsigned long long index) noexcept {
  typedef unsigned long long u64;
  const u64 row = index / s.output[2];
  const auto out_w = static_cast<unsigned>(index - row * s.output[2]);
  const u64 plane = row / s.output[1];
  const auto out_h = static_cast<unsigned>(row - plane * s.output[1]);
  const u64 volume = plane / s.output[0];
  const auto out_d = static_cast<unsigned>(plane - volume * s.output[0]);
  const u64 item = volume / s.out_channels;
  const auto channel = static_cast<unsigned>(volume - item * s.out_channels);

  const unsigned out_of_group = s.out_channels / s.groups;
  const unsigned in_of_group = s.in_channels / s.groups;
  const u64 first_in = u64(channel / out_of_group) * in_of_group;
  const u64 positions = u64(s.input[0]) * s.input[1] * s.input[2];
  const u64 taps = u64(s.kernel[0]) * s.kernel[1] * s.kernel[2];
  const float* const x_item = x + (item * s.in_channels + first_in) * positions;
  const float* const w_channel = w + (first_in * out_of_group + channel % out_of_group) * taps;

  const double start = bias == nullptr ? 0.0 : static_cast<double>(bias[channel]);
  double value = start;
  double size = start < 0.0 ? -start : start;
  double operands = start != start ? start : 0.0;
  u64 products = 0;
  unsigned in_d = 0;
  unsigned in_h = 0;
  unsigned in_w = 0;
  for (unsigned kd = 0; kd < s.kernel[0]; ++kd) {
    if (!find_source(s, 0, out_d, kd, in_d)) continue;
    for (unsigned kh = 0; kh < s.kernel[1]; ++kh) {
      if (!find_source(s, 1, out_h, kh, in_h)) continue;
      for (unsigned kw = 0; kw < s.kernel[2]; ++kw) {
        if (!find_source(s, 2, out_w, kw, in_w)) continue;
        products += in_of_group;
        const float* from = x_item + (u64(in_d) * s.input[1] + in_h) * s.input[2] + in_w;
        const float* by = w_channel + (u64(kd) * s.kernel[1] + kh) * s.kernel[2] + kw;
        for (unsigned c = 0; c < in_of_group; ++c) {
          const double p = *from;
          const double q = *by;
#ifdef __CUDACC_RTC__
          value = fma(p, q, value);  // the same bits: float64 holds the product of two floats
#else
          value += p * q;
#endif
          const double p_size = p < 0.0 ? -p : p;
          const double q_size = q < 0.0 ? -q : q;
          size += p_size * q_size;
          operands += p_size + q_size;
          from += positions;
          by += out_of_group * taps;
        }
      }
    }
  }
  return {value, grown(size, products), operands};
}

/// Is a weight of this output channel infinite or NaN? Then what pads x by zeros may give NaN anywhere in it.
[[nodiscard]] inline bool has_nonfinite_weight(const ConvolutionSizes& s, const float* w,
                                               unsigned channel) noexcept {
  typedef unsigned long long u64;
  const unsigned out_of_group = s.out_channels / s.groups;
  const unsigned in_of_group = s.in_channels / s.groups;
  const u64 taps = u64(s.kernel[0]) * s.kernel[1] * s.kernel[2];
  const u64 first =
      (u64(channel / out_of_group) * in_of_group * out_of_group + channel % out_of_group) * taps;
  for (unsigned c = 0; c < in_of_group; ++c) {
    for (u64 tap = 0; tap < taps; ++tap) {
      const float value = w[first + u64(c) * out_of_group * taps + tap];
      if (!(value - value == 0.0F)) return true;
    }
  }
  return false;
}

}  // namespace fusebench
