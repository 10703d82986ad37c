// The host's side of parity_mma.cuh: a variant for each format of its operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/operator.hpp"

namespace fusebench::conv_transpose3d_residual {

struct ParityMma {
  std::string name;
  std::string idea;
  std::string source;  ///< __FILE__ of a .cu that names its format and includes parity_mma.cuh
  Precision precision = Precision::float32;
  std::int64_t value_bytes = 4;   ///< the format's, of an operand
  std::int64_t default_rows = 4;  ///< of a tile
  /// How many blocks a multiprocessor shall hold, the default last; 0 leaves it to the compiler's choice of
  /// registers. TF32 in three products has none to give away.
  std::vector<std::string> blocks = {"0", "2"};
};

/// Registers and returns true.
bool add_parity_mma_variant(const ParityMma& variant);

}  // namespace fusebench::conv_transpose3d_residual
