#include "variants/conv_transpose3d_residual/wgmma_work.hpp"

#include <algorithm>

#include "harness/core/error.hpp"
#include "variants/conv_transpose3d_residual/convolution.hpp"

namespace fusebench::conv_transpose3d_residual {

Tiles tiles_of(const ConvTranspose3d& sizes) {
  const std::int64_t d = sizes.input[0];
  const std::int64_t row_tiles = pieces(sizes.input[1], tile_rows);
  const std::int64_t w = sizes.input[2];
  const std::int64_t column_tiles =
      w <= tile_columns ? 1 : 1 + pieces(w - tile_columns, column_step);
  const std::int64_t stacks = sizes.n * row_tiles * column_tiles;
  if (stacks * d >= most_items) {
    throw Unavailable("{} tiles are more than the kernel counts", stacks * d);
  }
  Tiles tiles;
  tiles.depth = Divisor(d);
  tiles.rows = Divisor(row_tiles);
  tiles.columns = Divisor(column_tiles);
  tiles.items = static_cast<std::uint32_t>(stacks * d);
  tiles.plane_items = static_cast<std::uint32_t>(row_tiles * column_tiles);
  return tiles;
}

void share_out(Tiles& tiles, std::int64_t blocks, std::int64_t runs, std::int64_t singles) {
  const std::int64_t depth = tiles.depth.divisor;
  const std::int64_t stacks = tiles.items / depth;
  const std::int64_t run = pieces(tiles.items, runs * blocks);
  tiles.run = static_cast<std::uint32_t>(run);
  tiles.per_run = Divisor(pieces(depth, run));
  tiles.run_stacks =
      static_cast<std::uint32_t>(stacks - std::min(stacks, pieces(singles * blocks, depth)));
  tiles.runs = tiles.run_stacks * tiles.per_run.divisor;
}

}  // namespace fusebench::conv_transpose3d_residual
