// What an element of conv_transpose3d_residual should be.
#pragma once

#include "reference/conv_transpose3d.hd.hpp"
#include "reference/residual_epilogue.hd.hpp"

namespace fusebench {
namespace conv_transpose3d_residual {

/// K = |4c + b + 1| S + G + 2^-6 S^2 and a little: dy/dc times what the convolution's error scales with, the
/// epilogue's own, and twice the square of the largest relative error of any contract, 2^-7, divided by
/// that once: the second-order term of y in c, which counts where 4c + b + 1 is nearly 0.
[[nodiscard]] constexpr double magnitude(const ConvolutionSum& c, double b) noexcept {
  const double slope = 4.0 * c.value + b + 1.0;
  return (slope < 0.0 ? -slope : slope) * c.size + residual_epilogue::magnitude(c.value, b) +
         0x1.01p-6 * c.size * c.size;
}

/// The exact reference order starts from the convolution in float64, rounded once to float32: of the
/// convolution itself no order is more exact than another.
[[nodiscard]] inline Expectation expectation(const ConvolutionSum& c, float b,
                                             bool nonfinite_weight) noexcept {
  const double slope = 4.0 * c.value + b + 1.0;
  // Each operand may vanish, then c, b and what the epilogue makes of them.
  const double underflow = (slope < 0.0 ? -slope : slope) * (c.operands + 1.0) +
                           (c.value < 0.0 ? -c.value : c.value) + 2.0;
  return {residual_epilogue::exact_order(static_cast<float>(c.value), b),
          residual_epilogue::oracle_value(c.value, b),
          magnitude(c, b),
          c.operands != c.operands || b != b,
          underflow,
          nonfinite_weight};
}

}  // namespace conv_transpose3d_residual
}  // namespace fusebench
