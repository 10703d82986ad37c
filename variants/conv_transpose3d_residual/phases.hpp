// A transposed convolution seen from its outputs: in one dimension, outputs a stride apart take the same
// taps from neighbouring inputs. Such a set of outputs is a phase.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/conv_transpose3d.hpp"

namespace fusebench::conv_transpose3d_residual {

struct PhaseTap {
  std::int64_t tap;    ///< of the kernel, in this dimension
  std::int64_t shift;  ///< output j of the phase takes from input j + shift, where that exists
};

/// Outputs first, first + stride, ...: `count` of them.
struct Phase {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<PhaseTap> taps = {};
};

/// The phases of dimension 0 (depth), 1 (height) or 2 (width), by their first output; as many as the stride,
/// or as there are outputs where those are fewer.
[[nodiscard]] std::vector<Phase> phases_of(const ConvTranspose3d& sizes, std::size_t dimension);

}  // namespace fusebench::conv_transpose3d_residual
