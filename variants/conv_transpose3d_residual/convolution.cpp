#include "variants/conv_transpose3d_residual/convolution.hpp"

namespace fusebench::conv_transpose3d_residual {

KernelConvolution::KernelConvolution(const ConvTranspose3d& sizes)
    : outputs(static_cast<std::uint64_t>(sizes.output_elements())),
      positions(static_cast<std::uint64_t>(sizes.input_positions())),
      outputs_of_channel(static_cast<std::uint64_t>(sizes.output_positions())),
      n(static_cast<std::uint32_t>(sizes.n)),
      in_channels(static_cast<std::uint32_t>(sizes.in_channels)),
      out_channels(static_cast<std::uint32_t>(sizes.out_channels)),
      in_of_group(static_cast<std::uint32_t>(sizes.in_channels / sizes.groups)),
      out_of_group(static_cast<std::uint32_t>(sizes.out_channels / sizes.groups)),
      taps(static_cast<std::uint32_t>(sizes.taps())) {
  const PerDimension out = sizes.output();
  for (std::size_t i = 0; i < 3; ++i) {
    input[i] = static_cast<std::uint32_t>(sizes.input[i]);
    output[i] = static_cast<std::uint32_t>(out[i]);
    kernel[i] = static_cast<std::uint32_t>(sizes.kernel[i]);
    stride[i] = static_cast<std::uint32_t>(sizes.stride[i]);
    padding[i] = static_cast<std::uint32_t>(sizes.padding[i]);
    dilation[i] = static_cast<std::uint32_t>(sizes.dilation[i]);
  }
}

}  // namespace fusebench::conv_transpose3d_residual
