// The wgmma kernels' plan, for variants that differ in the format of their operands.
#pragma once

#include <optional>
#include <string>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {

/// What tells such variants apart. Their source defines the kernels `pack` and `convolve`.
struct WgmmaVariant {
  std::string name;
  std::string idea;
  std::string source;
  Precision precision = Precision::bf16x3;
  int format = 0;    ///< 0: bf16, 1: fp16
  int products = 3;  ///< 3: of two halves each; 1: of rounded operands
};

/// Why the wgmma kernels, of tiles or strips, do not do these sizes; nullopt when they do.
[[nodiscard]] std::optional<std::string> wgmma_refuses(const ConvTranspose3d& sizes);

/// Registers and returns true.
bool add_wgmma_variant(const WgmmaVariant& variant);

}  // namespace fusebench::conv_transpose3d_residual
