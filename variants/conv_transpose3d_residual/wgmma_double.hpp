// The wgmma kernels' plan, for variants that differ in the format of their operands.
#pragma once

#include <string>

#include "variants/conv_transpose3d_residual/cuda_variant.hpp"

namespace fusebench::conv_transpose3d_residual {

/// As FORMAT in wgmma_formats.cuh.
enum class WgmmaFormat { bf16 = 0, fp16 = 1, tf32 = 2 };

/// What tells such variants apart. Their source defines the kernels `pack` and `convolve`, with the
/// kind of a pass behind the name where it is not the only one. They take up to most_in_channels input channels.
struct WgmmaVariant {
  std::string name;
  std::string idea;
  std::string source;
  Precision precision = Precision::bf16x3;
  WgmmaFormat format = WgmmaFormat::bf16;
  int products = 3;  ///< 3: of two halves each, not of TF32; 1: of rounded operands
};

/// Registers and returns true.
bool add_wgmma_variant(const WgmmaVariant& variant);

}  // namespace fusebench::conv_transpose3d_residual
