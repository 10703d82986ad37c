// The host's side of parity_tiles.cuh. A configuration has `rows` and `columns`: a tile's input positions.
#pragma once

#include <cstdint>

#include "harness/core/parameters.hpp"
#include "harness/device/cuda/cuda_device.hpp"
#include "reference/conv_transpose3d.hpp"

namespace fusebench::conv_transpose3d_residual {

inline constexpr std::int64_t block_channels = 64;  ///< output channels of a block
inline constexpr std::int64_t chunk_channels = 32;  ///< input channels in shared memory at a time

/// Of two planes of a tile, with one more row and column each.
[[nodiscard]] inline std::int64_t halo_positions(const Configuration& k) {
  return 2 * (k.integer("rows") + 1) * (k.integer("columns") + 1);
}

/// Blocks that cover the problem. Throws Error when a grid cannot hold them.
[[nodiscard]] inline std::uint32_t parity_blocks(const ConvTranspose3d& c, const Configuration& k) {
  const auto tiles = [](std::int64_t extent, std::int64_t tile) {
    return (extent + tile - 1) / tile;
  };
  return blocks_for(c.n * c.input[0] * tiles(c.input[1], k.integer("rows")) *
                        tiles(c.input[2], k.integer("columns")) *
                        tiles(c.out_channels, block_channels),
                    1);
}

/// Are y and each of its rows, 2 * w floats, aligned to 16 bytes?
[[nodiscard]] inline bool stores_wide(const ConvTranspose3d& c, const float* y) {
  return reinterpret_cast<std::uintptr_t>(y) % 16 == 0 && c.input[2] % 2 == 0;
}

}  // namespace fusebench::conv_transpose3d_residual
