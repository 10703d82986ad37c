// conv_transpose3d_residual's oracle for a device: sizes as device_oracle_sizes() lists them; inputs x, w,
// conv_bias and b as the judge's own copies.
#pragma once

#include "reference/conv_transpose3d_residual.hd.hpp"

namespace fusebench {

inline Expectation expect(const OracleArguments& arguments, unsigned long long index) {
  const unsigned long long* next = arguments.sizes;
  ConvolutionSizes sizes{};
  sizes.in_channels = static_cast<unsigned>(*next++);
  sizes.out_channels = static_cast<unsigned>(*next++);
  sizes.groups = static_cast<unsigned>(*next++);
  // No initializer list, which this may not include.
  unsigned* const triples[] = {sizes.input,  sizes.output,  sizes.kernel,
                               sizes.stride, sizes.padding, sizes.dilation};
  for (unsigned* const triple : triples) {
    for (unsigned i = 0; i < 3; ++i) triple[i] = static_cast<unsigned>(*next++);
  }
  const bool biased = *next != 0;
  const unsigned long long positions =
      (unsigned long long)sizes.output[0] * sizes.output[1] * sizes.output[2];
  const unsigned long long channel = index / positions % sizes.out_channels;
  const ConvolutionSum c = convolve(sizes, arguments.inputs[0].values, arguments.inputs[1].values,
                                    biased ? arguments.inputs[2].values : nullptr, index);
  const InputSource& w = arguments.inputs[1];
  const bool nonfinite_weight =
      !w.finite && has_nonfinite_weight(sizes, w.values, static_cast<unsigned>(channel));
  return conv_transpose3d_residual::expectation(c, arguments.inputs[3].values[channel],
                                                nonfinite_weight);
}

}  // namespace fusebench
