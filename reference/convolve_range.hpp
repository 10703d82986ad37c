// convolve() for neighbouring outputs: the same sums in the same order, so the same bits, in loops that a
// compiler can vectorise.
#pragma once

#include <span>

#include "reference/conv_transpose3d.hd.hpp"

namespace fusebench {

/// out[i] = convolve(s, x, w, bias, first + i). Throws nothing.
void convolve_range(const ConvolutionSizes& s, const float* x, const float* w, const float* bias,
                    unsigned long long first, std::span<ConvolutionSum> out);

}  // namespace fusebench
