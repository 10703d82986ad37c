// Maps for bulk tensor copies, which bring boxes of an array to shared memory (sm_90 and later).
#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/cuda/tensor_map.hd.hpp"

namespace fusebench {

/// An array of float32 in global memory, of up to five dimensions, innermost first, and the boxes that are copied from it.
struct TensorBoxes {
  const float* address = nullptr;      ///< a multiple of 16 bytes
  std::vector<std::uint64_t> extents;  ///< in elements; what a box has beyond them comes as zeros
  std::vector<std::uint64_t>
      strides;                     ///< in bytes, of all dimensions but the first; multiples of 16
  std::vector<std::uint32_t> box;  ///< in elements, at most 256 each; the first 32
};

/// The first coordinate of a copy must be a multiple of 4, or the instruction is illegal. In shared memory a box is rows of 128 bytes, whose pieces of 16 are swizzled: piece p of row r is at p ^ (r % 8). Throws
/// Unavailable where the driver is older than 12.0, Error where it refuses the boxes.
[[nodiscard]] TensorMap tensor_map(const TensorBoxes& boxes);

}  // namespace fusebench
