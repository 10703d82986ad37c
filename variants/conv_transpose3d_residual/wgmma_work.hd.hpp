// The wgmma kernel's work: how a problem is cut into tiles, and how blocks take them. For host and device.
// wgmma_tiles.cuh has the picture.
#pragma once

#include "variants/conv_transpose3d_residual/divisor.hd.hpp"

namespace fusebench::conv_transpose3d_residual {

constexpr unsigned block_channels = 64;  ///< output channels
constexpr unsigned tile_channels = 32;   ///< input channels of a pass; zeros where it has fewer
constexpr unsigned tile_rows = 4;
constexpr unsigned tile_columns = 32;
constexpr unsigned plane_rows = tile_rows + 1;
/// Of a row that does not fit one tile each tile leaves its last column, whose neighbour it does not have, to
/// the next; and three more, since bulk copies begin at multiples of 16 bytes.
constexpr unsigned column_step = tile_columns - 4;
constexpr unsigned most_items = 1U << 29U;  ///< a word has three bits beside an item's number

/// The tiles of a problem, and how blocks take them. An item is a tile of 4 rows of 32 positions in one plane, and the
/// outputs that begin there. Items that follow each other in depth are a stack; a block reads each plane of a run of
/// them once for the two items that need it. At the end blocks take items singly and their consumers halve them: some
/// processors get half as much again of the memory as others, and a slow one that takes a long run last ends last.
struct Tiles {
  Divisor depth, rows, columns;  ///< planes, tiles of 4 rows, tiles of 32 columns
  Divisor per_run;               ///< runs of a stack
  unsigned items = 0;
  unsigned plane_items = 0;  ///< from an item to the one a plane further
  unsigned run = 1;          ///< items
  unsigned run_stacks = 0;   ///< stacks taken in runs, the others singly
  unsigned runs = 0;         ///< all of them
};

/// Where an item's first position is.
struct Item {
  unsigned n, d, h0, w0;
};

/// Items count n, d, row tile, column tile.
[[nodiscard]] constexpr Item item_at(const Tiles& tiles, unsigned index) noexcept {
  Item item{};
  const unsigned line = tiles.columns.quotient(index);
  item.w0 = (index - line * tiles.columns.divisor) * column_step;
  const unsigned plane = tiles.rows.quotient(line);
  item.h0 = (line - plane * tiles.rows.divisor) * tile_rows;
  item.n = tiles.depth.quotient(plane);
  item.d = plane - item.n * tiles.depth.divisor;
  return item;
}

/// What a block takes at once.
struct Segment {
  unsigned first;     ///< item
  unsigned length;    ///< items, each a plane further; 0: there are no more
  unsigned planes;    ///< one more where the last item needs the next
  bool halved;        ///< taken singly, at the end
  unsigned of_batch;  ///< number of the segment among those of its batch item, and of its kind
};

[[nodiscard]] constexpr Segment segment_at(const Tiles& tiles, unsigned number) noexcept {
  const bool halved = number >= tiles.runs;
  const unsigned rest = halved ? number - tiles.runs : number;
  const unsigned in_order = halved ? tiles.depth.quotient(rest) : tiles.per_run.quotient(rest);
  const unsigned per = halved ? tiles.depth.divisor : tiles.per_run.divisor;
  const unsigned most = halved ? 1 : tiles.run;
  const unsigned depth = (rest - in_order * per) * most;
  const unsigned stack = in_order + (halved ? tiles.run_stacks : 0);
  // Stacks count n, then what lies in a plane.
  const unsigned line = tiles.columns.quotient(stack);
  const unsigned n = tiles.rows.quotient(line);
  const unsigned left = tiles.depth.divisor - depth;
  Segment segment{};
  segment.first = stack + (n * (tiles.depth.divisor - 1) + depth) * tiles.plane_items;
  segment.length = stack * tiles.depth.divisor >= tiles.items ? 0 : most < left ? most : left;
  segment.halved = halved;
  segment.of_batch = rest - (in_order - (stack - n * tiles.plane_items)) * per;
  segment.planes = segment.length + (depth + segment.length < tiles.depth.divisor ? 1 : 0);
  return segment;
}

}  // namespace fusebench::conv_transpose3d_residual
