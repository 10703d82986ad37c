// The inner loop of cpu_direct in the widest vectors this processor has (Highway picks them at run time):
// a few vectors of output positions by a few output channels, held in registers over all input channels.
#pragma once

#include <cstdint>

namespace fusebench::conv_transpose3d_residual {

inline constexpr int most_vectors = 3;    ///< of output positions in a tile
inline constexpr int most_channels = 12;  ///< output channels in a tile

/// One tap of the kernel, for every vector of a tile.
struct TileTap {
  std::int64_t w;                ///< into Tile::w, at [in channel][channel of the tile]
  const float* x[most_vectors];  ///< [in channel][x_step], at the vector's first lane
  /// Lanes [first, last) of the vector have an input behind this tap; the others are left alone, since
  /// a product with a padding zero would turn an Inf of w into a NaN.
  std::int64_t first[most_vectors];
  std::int64_t last[most_vectors];
  bool whole;  ///< all lanes of all vectors that matter
};

struct Tile {
  const TileTap* taps;
  std::int64_t tap_count;
  const float* w;
  std::int64_t in_channels;
  std::int64_t x_step;  ///< floats from one input channel to the next
  const float* start;   ///< what each channel's sum starts from
  float* sums;          ///< out: channel c, vector p at c * channel_step + p * tile_lanes()
  std::int64_t channel_step;
};

using TileFunction = void (*)(const Tile&);

/// The function for tiles of so many channels (4, 8 or 12) and vectors (1 to 3). Throws Error for others.
[[nodiscard]] TileFunction tile_function(std::int64_t channels, std::int64_t vectors);

/// Floats in a vector.
[[nodiscard]] std::int64_t tile_lanes();

/// to[2 i] = even[i], to[2 i + 1] = odd[i] for whole vectors up to at least `pairs`: all three have room
/// for a multiple of tile_lanes() pairs.
void interleave(const float* even, const float* odd, float* to, std::int64_t pairs);

/// Why these cannot run in this build; empty when they can.
[[nodiscard]] const char* tiles_unavailable();

}  // namespace fusebench::conv_transpose3d_residual
