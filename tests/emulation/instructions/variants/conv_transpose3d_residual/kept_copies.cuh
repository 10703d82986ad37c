// Copies by tensor maps and prefetches, in the place of those by instructions.
#pragma once

#include "harness/device/cuda/tensor_map.hd.hpp"
#include "tests/emulation/copies.hpp"
#include "variants/conv_transpose3d_residual/convolution.cuh"

inline void fetch_line_once(const void*) {}
inline void fetch_bytes(const void* from, u32 bytes) {
  fusebench::emulation::require_multiple_of_16(from, bytes);
}
inline void copy_tile_kept(u32 to, const fusebench::TensorMap& map, u32 at_0, u32 at_1, u32 at_2,
                           u32 at_3, u32 at_4, u32 barrier) {
  fusebench::emulation::copy_box(to, map, {at_0, at_1, at_2, at_3, at_4}, barrier);
}
