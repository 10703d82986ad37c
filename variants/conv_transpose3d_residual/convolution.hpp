// A convolution's sizes as kernels take them.
#pragma once

#include <cstdint>

#include "reference/conv_transpose3d.hpp"
#include "variants/conv_transpose3d_residual/divisor.hd.hpp"

namespace fusebench::conv_transpose3d_residual {

/// struct Convolution in convolution.cuh has the same layout.
struct KernelConvolution {
  explicit KernelConvolution(const ConvTranspose3d& sizes);
  std::uint64_t outputs;    ///< elements of y
  std::uint64_t positions;  ///< of one input channel
  std::uint64_t outputs_of_channel;
  std::uint32_t n, in_channels, out_channels, in_of_group, out_of_group, taps;
  std::uint32_t input[3], output[3], kernel[3], stride[3], padding[3], dilation[3];
};

/// How many pieces a whole is cut into, the last one perhaps smaller.
[[nodiscard]] constexpr std::int64_t pieces(std::int64_t whole, std::int64_t piece) {
  return (whole + piece - 1) / piece;
}

}  // namespace fusebench::conv_transpose3d_residual
