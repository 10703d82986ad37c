// The operator conv_transpose3d_residual: c = ConvTranspose3d(x, w) + conv_bias, then
// y = ((c + b) + c) * c + c with b[channel] broadcast.
#pragma once

#include "harness/core/operator.hpp"
#include "reference/conv_transpose3d.hpp"
#include "reference/conv_transpose3d_residual.hd.hpp"

namespace fusebench::conv_transpose3d_residual {

inline constexpr const char* operator_name = "conv_transpose3d_residual";

/// Indices into a TensorTable; the output is y, [n, co, output...].
inline constexpr std::size_t tensor_x = 0;          ///< [n, ci, d, h, w]
inline constexpr std::size_t tensor_w = 1;          ///< [ci, co / g, kd, kh, kw]
inline constexpr std::size_t tensor_conv_bias = 2;  ///< [co]; [0], no elements, without a bias
inline constexpr std::size_t tensor_b = 3;          ///< [co, 1, 1, 1]

/// What the oracle needs of the parameters.
[[nodiscard]] ConvolutionSizes convolution_sizes(const ConvTranspose3d& parameters);

}  // namespace fusebench::conv_transpose3d_residual
