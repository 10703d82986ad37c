#include "variants/conv_transpose3d_residual/phases.hpp"

#include <algorithm>

namespace fusebench::conv_transpose3d_residual {

std::vector<Phase> phases_of(const ConvTranspose3d& sizes, std::size_t dimension) {
  const std::int64_t stride = sizes.stride[dimension];
  const std::int64_t outputs = sizes.output()[dimension];
  std::vector<Phase> phases;
  for (std::int64_t first = 0; first < std::min(stride, outputs); ++first) {
    Phase phase{.first = first, .count = (outputs - first + stride - 1) / stride};
    for (std::int64_t tap = 0; tap < sizes.kernel[dimension]; ++tap) {
      const std::int64_t reach = first + sizes.padding[dimension] - tap * sizes.dilation[dimension];
      if (reach % stride == 0) phase.taps.push_back({tap, reach / stride});
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace fusebench::conv_transpose3d_residual
