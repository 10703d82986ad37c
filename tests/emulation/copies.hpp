// Asynchronous copies to shared memory: each piece arrives at a time of its own, and then counts at its mbarrier.
#pragma once

#include <array>

#include "harness/device/cuda/tensor_map.hpp"

namespace fusebench::emulation {

/// What emulated kernels take: it refers to `boxes`, which outlives it.
[[nodiscard]] TensorMap map_of(const TensorBoxes& boxes);

/// Of five dimensions, in rows of 128 bytes, whose pieces of 16 are swizzled. Fails as the instruction does where the
/// first coordinate is no multiple of 4 or `to` none of 128.
void copy_box(unsigned to, const TensorMap& map, const std::array<std::uint64_t, 5>& at,
              unsigned barrier);
void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier);
void require_multiple_of_16(const void* from, unsigned bytes);

}  // namespace fusebench::emulation
