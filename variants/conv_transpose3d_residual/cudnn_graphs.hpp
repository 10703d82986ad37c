// The operator's convolution as cuDNN can be asked for it: as one transposed convolution, or cut into pieces
// that it has fused engines for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/device/cuda/cudnn/cudnn_description.hpp"
#include "reference/conv_transpose3d.hpp"

namespace fusebench::conv_transpose3d_residual {

enum class Layout { channels_first, channels_last };

/// The transposed convolution without bias or epilogue: inputs x and w, output c, all in one layout.
[[nodiscard]] CudnnDescription transposed_convolution(const ConvTranspose3d& sizes, Layout layout);

/// Channels as the pieces below hold them, so that every row is a multiple of 16 bytes: the rest is zero.
[[nodiscard]] constexpr std::int64_t padded_channels(std::int64_t channels,
                                                     std::int64_t to) noexcept {
  return (channels + to - 1) / to * to;
}

/// For doubling convolutions, fused with the epilogue, in NHWC: planes of depth as a batch of transposed 2-D
/// convolutions. Output plane 2j takes x[j] by the filter's plane kd = 1. Output plane 2j + 1 takes x[j] by
/// kd = 2 and x[j + 1] by kd = 0: twice the channels. The last plane has no x[j + 1], and a plane of zeros
/// in its place would make NaN of an infinite weight, so it is a graph of its own.
/// Inputs x, w, conv_bias (where the convolution has one) and b, then the output y:
/// - even: x [n d, ci, h, w], w [ci, co, 3, 3], y [n d, co, 2h, 2w];
/// - odd: x [n (d - 1), 2 ci, h, w], w [2 ci, co, 3, 3], y [n (d - 1), co, 2h, 2w]; absent where d is 1;
/// - last: x [n, ci, h, w], w [ci, co, 3, 3], y [n, co, 2h, 2w].
/// ci and co are padded to multiples of 4.
[[nodiscard]] std::vector<CudnnDescription> fused_planes(const ConvTranspose3d& sizes);

/// One eighth of a doubling convolution: the outputs whose depth, height and width are odd where the bits
/// 4, 2 and 1 of `number` are set. An odd one takes two taps, k = 2 at j and k = 0 at j + 1, an even one
/// k = 1 at j: a convolution with a filter of 1 or 2 in each dimension.
struct Parity {
  explicit constexpr Parity(int number) : odd{(number >> 2) & 1, (number >> 1) & 1, number & 1} {}
  std::array<std::int64_t, 3> odd;
  [[nodiscard]] constexpr std::int64_t taps() const noexcept {
    return (1 + odd[0]) * (1 + odd[1]) * (1 + odd[2]);
  }
};

/// The eight parities in the order of their numbers, each fused with the epilogue. Inputs x [n, ci, d, h, w],
/// w [co, ci, 1 or 2, ...], conv_bias (where there is one) and b, output y [n, co, d, h, w]; all channels last.
/// Each y is a tensor of its own, since cuDNN takes a view of the whole y and then ignores its strides.
/// `in_channels` is what x holds for each position, three bf16 for each float for bf16x3; co is padded to a
/// multiple of 4.
[[nodiscard]] std::vector<CudnnDescription> fused_parities(const ConvTranspose3d& sizes,
                                                           std::int64_t in_channels,
                                                           CudnnType type);

}  // namespace fusebench::conv_transpose3d_residual
