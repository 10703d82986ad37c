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
  /// In bytes, of all dimensions but the first; multiples of 16, in any order.
  std::vector<std::uint64_t> strides;
  std::vector<std::uint32_t> box;  ///< in elements, at most 256 each; the first 32
};

/// Whether the driver makes them, as those since 12.0 do.
[[nodiscard]] bool have_tensor_maps();

/// The first coordinate of a copy must be a multiple of 4, or the instruction is illegal. In shared memory a box is rows of 128
/// bytes, whose pieces of 16 are swizzled: piece p of row r is at p ^ (r % 8). Throws Unavailable without have_tensor_maps(),
/// Error where the driver refuses the boxes.
[[nodiscard]] TensorMap tensor_map(const TensorBoxes& boxes);

}  // namespace fusebench
