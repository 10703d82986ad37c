// How the wgmma kernel cuts the problem: tiles, the work lists of its two classes of blocks, and what lies in
// shared memory.
//
// Along each dimension the output 2i takes tap 1 from the input i, the output 2i + 1 takes tap 2 from i and
// tap 0 from i + 1 where that exists. One item of work is 4 rows of 32 input positions in one plane, and all
// outputs of one depth parity that begin there, for 64 channels:
//
//     w0         w0 + 31                 outputs, 64 channels
//     +-----------------+ h0           +---------------------------+ 2 h0
//     | 128 positions,  |              |  8 rows of 64, in plane   |
//     | 32 channels     |     ==>      |  2 d (even blocks) or     |
//     +-----------------+ h0 + 3       |  2 d + 1 (odd blocks)     |
//     | one more row    | h0 + 4       +---------------------------+ 2 h0 + 7
//     +-----------------+              odd blocks also read plane d + 1
//
// The matrices: A = a tap's weights [64 output channels][32 input channels], B = x [32 input channels][128
// positions], D = A B. Rows and planes that a tap reaches for are whole rows of B; columns are not, so three
// accumulators take the column taps 1, 2 and 0 from the same B, and the epilogue puts them together:
// y[2w] from E[w], y[2w + 1] from F2[w] + F0[w + 1].
//
// Blocks are even or odd by the depth parity of what they write, so that a block's weights, 9 or 18 taps,
// stay in its shared memory. Beside them is a ring of planes (5 rows each), which one warpgroup fills and
// two empty.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"

constexpr u32 block_channels = 64;  // output channels
constexpr u32 tile_channels = 32;   // input channels, with zeros where there are fewer
constexpr u32 tile_rows = 4;
constexpr u32 tile_columns = 32;
constexpr u32 plane_rows = tile_rows + 1;
// Of a row that does not fit one tile each tile leaves its last column, whose neighbour it does not have, to
// the next.
constexpr u32 column_step = tile_columns - 1;

constexpr u32 parts = PRODUCTS == 3 ? 2 : 1;  // high halves, low halves
constexpr u32 row_part_bytes = tile_channels * tile_columns * 2;
constexpr u32 row_bytes = parts * row_part_bytes;
constexpr u32 plane_bytes = plane_rows * row_bytes;
constexpr u32 tap_part_bytes = block_channels * tile_channels * 2;
constexpr u32 tap_bytes = parts * tap_part_bytes;
constexpr u32 even_taps = 9;
constexpr u32 odd_taps = 18;
constexpr u32 all_taps = even_taps + odd_taps;

// In each dimension taps are kept in the order 1, 2, 0.
__device__ constexpr u32 tap_slot(u32 tap) { return tap == 0 ? 2 : tap - 1; }

constexpr u32 most_slots = 8;     // of the ring
constexpr u32 head_bytes = 1024;  // barriers and what the slots hold
struct Head {
  u64 full[most_slots];
  u64 empty[most_slots];
  u64 weights;
  int held[most_slots];  // the item that begins in the slot's plane, or one of the two below
  int segment[2];        // for handing a number from one producer thread to the others
};
constexpr int no_more = -1;
constexpr int second_plane_only = -2;

// The tiles of a problem.
struct Tiles {
  u32 depth, rows, columns;  // planes, tiles of 4 rows, tiles of 32 columns
  u32 items;                 // of one depth parity
  __device__ explicit Tiles(const Convolution& s)
      : depth(s.input[0]),
        rows((s.input[1] + tile_rows - 1) / tile_rows),
        columns(s.input[2] <= tile_columns
                    ? 1
                    : 1 + (s.input[2] - tile_columns + column_step - 1) / column_step),
        items(s.n * depth * rows * columns) {}
};

struct Item {
  u32 n, d, h0, w0;
};
// Items count n, d, row tile, column tile.
__device__ inline Item item_at(const Tiles& tiles, u32 index) {
  Item item;
  u32 rest = index / tiles.columns;
  item.w0 = (index - rest * tiles.columns) * column_step;
  const u32 lines = rest / tiles.rows;
  item.h0 = (rest - lines * tiles.rows) * tile_rows;
  item.n = lines / tiles.depth;
  item.d = lines - item.n * tiles.depth;
  return item;
}
__device__ inline u32 index_of(const Tiles& tiles, u32 n, u32 d, u32 row, u32 column) {
  return ((n * tiles.depth + d) * tiles.rows + row) * tiles.columns + column;
}

// Items that follow each other in depth: an odd block reads each plane of a segment once for the two items
// that need it. Long segments come first, short ones last, so that all blocks end together.
struct Segment {
  u32 first;   // item index; the next ones are a plane further each
  u32 length;  // 0: there are no more
  u32 depth;   // of the first
};
constexpr u32 long_segment = 8;
constexpr u32 short_segment = 2;

__device__ inline Segment odd_segment(const Tiles& tiles, u32 long_columns, u32 number) {
  const u32 per_long = (tiles.depth + long_segment - 1) / long_segment;
  const u32 per_short = (tiles.depth + short_segment - 1) / short_segment;
  const u32 of_long = long_columns * per_long;
  const bool is_long = number < of_long;
  const u32 per = is_long ? per_long : per_short;
  const u32 length = is_long ? long_segment : short_segment;
  const u32 rest = is_long ? number : number - of_long;
  const u32 stack = rest / per + (is_long ? 0 : long_columns);  // items above each other
  if (stack * tiles.depth >= tiles.items) return {0, 0, 0};
  Segment segment;
  segment.depth = (rest - rest / per * per) * length;
  segment.length = min(length, tiles.depth - segment.depth);
  const u32 line = stack / tiles.columns;
  segment.first = index_of(tiles, line / tiles.rows, segment.depth, line % tiles.rows,
                           stack - line * tiles.columns);
  return segment;
}
__device__ inline Segment even_segment(const Tiles& tiles, u32 number) {
  if (number >= tiles.items) return {0, 0, 0};
  return {number, 1, item_at(tiles, number).d};
}
