// The parameters of a ConvTranspose3d, by PyTorch's names and rules, and their text on a command line.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/core/operator.hpp"

namespace fusebench {

/// One value for each of depth, height and width.
using PerDimension = std::array<std::int64_t, 3>;

/// ConvTranspose3d on [n, in_channels, input...], giving [n, out_channels, output...]; the weight is
/// [in_channels, out_channels / groups, kernel...], a bias [out_channels]. Everything is contiguous.
struct ConvTranspose3d {
  std::int64_t n = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  bool bias = true;
  PerDimension input = {1, 1, 1};
  PerDimension kernel = {1, 1, 1};
  PerDimension stride = {1, 1, 1};
  PerDimension padding = {0, 0, 0};
  PerDimension output_padding = {0, 0, 0};
  PerDimension dilation = {1, 1, 1};

  /// (input - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1, of each dimension.
  [[nodiscard]] PerDimension output() const noexcept;
  [[nodiscard]] std::int64_t input_positions() const noexcept {
    return input[0] * input[1] * input[2];
  }
  [[nodiscard]] std::int64_t output_positions() const noexcept {
    const PerDimension extents = output();
    return extents[0] * extents[1] * extents[2];
  }
  [[nodiscard]] std::int64_t taps() const noexcept { return kernel[0] * kernel[1] * kernel[2]; }
  /// n * out_channels * output_positions().
  [[nodiscard]] std::int64_t output_elements() const noexcept {
    return n * out_channels * output_positions();
  }

  friend bool operator==(const ConvTranspose3d&, const ConvTranspose3d&) = default;
};

/// Reads "n=,ci=,co=,d=,h=,w=,k=[,s=][,p=][,op=][,dil=][,g=][,bias=]", where k, s, p, op and dil stand for
/// all three dimensions or are given as kd=, kh=, kw= and so on. Throws Error naming the size that is
/// missing, unknown, out of range, or impossible by PyTorch's rules.
[[nodiscard]] ConvTranspose3d parse_conv_transpose3d(std::string_view text);

/// The one text of these parameters: the sizes in order; k, s, p and op as one number where all three
/// dimensions are alike; dil, g and bias only where they are not the default.
[[nodiscard]] Problem problem_of(const ConvTranspose3d& parameters);

/// The inverse. Throws Error when a size is missing.
[[nodiscard]] ConvTranspose3d conv_transpose3d_of(const Problem& problem);

}  // namespace fusebench
