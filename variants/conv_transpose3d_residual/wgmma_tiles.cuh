// How the wgmma kernel cuts the problem: tiles, the work lists of its two classes of blocks, and what lies in
// shared memory.
//
// Along each dimension the output 2i takes tap 1 from the input i, the output 2i + 1 takes tap 2 from i and
// tap 0 from i + 1 where that exists. One item of work is 4 rows of 32 input positions in one plane, and the
// outputs that begin there, for 64 channels:
//
//     w0         w0 + 31                 outputs, 64 channels
//     +-----------------+ h0           +---------------------------+ 2 h0
//     | 128 positions,  |              |  8 rows of 64, in planes  |
//     | 32 channels     |     ==>      |  2 d and 2 d + 1          |
//     +-----------------+ h0 + 3       |                           |
//     | one more row    | h0 + 4       +---------------------------+ 2 h0 + 7
//     +-----------------+
//     and the same of plane d + 1
//
// The matrices: A = a tap's weights [64 output channels][32 input channels], B = x [32 input channels][128
// positions], D = A B. Rows and planes that a tap reaches for are whole rows of B; columns are not, so three
// accumulators take the column taps 1, 2 and 0 from the same B, and the epilogue puts them together:
// y[2w] from E[w], y[2w + 1] from F2[w] + F0[w + 1].
//
// An item's outputs are of four parities, 2 (plane is odd) + (row is odd), which take 1, 2, 2 and 4 row taps of 3
// column taps each. All weights in two halves leave no shared memory for x; so a block then does parities 0 and 3
// (plane and row alike) or 1 and 2 (mixed): 15 or 12 taps, and as many outputs. Beside the weights is a ring of planes
// (5 rows each), which one warpgroup fills and two empty.
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
constexpr u32 row_tap_bytes = 3 * tap_bytes;
constexpr u32 all_taps = 27;

// In each dimension taps are kept in the order 1, 2, 0.
__device__ constexpr u32 tap_slot(u32 tap) { return tap == 0 ? 2 : tap - 1; }
// The first of a parity's row taps: they are kept by parity, in the order 0, 3, 1, 2.
__device__ constexpr u32 first_row_tap(u32 parity) {
  return parity % 3 == 0 ? parity / 3 : 3 + 2 * parity;
}

// Blocks are of two kinds, or all of one that does everything.
constexpr bool two_kinds = PRODUCTS == 3;
constexpr u32 block_parities = two_kinds ? 2 : 4;
__device__ constexpr u32 block_parity(bool mixed, u32 i) {
  return mixed ? 1 + i : i < 2 ? 3 * i : i - 1;
}
__device__ constexpr u32 block_first_row_tap(bool mixed) { return mixed ? 5 : 0; }
__device__ constexpr u32 block_row_taps(bool mixed) { return !two_kinds ? 9 : mixed ? 4 : 5; }
#if PRODUCTS == 3
__device__ constexpr u32 block_slots(bool mixed) { return mixed ? MIXED_SLOTS : ALIKE_SLOTS; }
#else
__device__ constexpr u32 block_slots(bool) { return SLOTS; }
#endif

constexpr u32 most_slots = 8;     // of the ring
constexpr u32 head_bytes = 1024;  // barriers and what the slots hold
struct Head {
  u64 full[most_slots];
  u64 empty[most_slots];
  u64 weights;
  int held[most_slots];  // the item that begins in the slot's plane, or one of what is below
  int segment[2];        // for handing a number from one producer thread to the others
};
static_assert(sizeof(Head) <= head_bytes);
static_assert(block_slots(false) <= most_slots && block_slots(true) <= most_slots);
constexpr int no_more = -1;
constexpr int second_plane_only = -2;
// Added to an item that both consumers do, half of the parities each.
constexpr int halved_item = 1 << 30;

// The tiles of a problem, and how blocks take them. Items that follow each other in depth are a stack; a block reads
// each plane of a run of them once for the two items that need it. At the end blocks take items singly and their
// consumers halve them: some processors get half as much again of the memory as others, and a slow one that takes
// a long run last ends last.
struct Tiles {
  Divisor depth, rows, columns;  // planes, tiles of 4 rows, tiles of 32 columns
  Divisor per_run;               // runs of a stack
  u32 items;
  u32 plane_items;  // from an item to the one a plane further
  u32 run;          // items
  u32 run_stacks;   // stacks taken in runs, the others singly
  u32 runs;         // all of them
};

struct Item {
  u32 n, d, h0, w0;
};
// Items count n, d, row tile, column tile.
__device__ inline Item item_at(const Tiles& tiles, u32 index) {
  Item item;
  const u32 line = tiles.columns.quotient(index);
  item.w0 = (index - line * tiles.columns.divisor) * column_step;
  const u32 plane = tiles.rows.quotient(line);
  item.h0 = (line - plane * tiles.rows.divisor) * tile_rows;
  item.n = tiles.depth.quotient(plane);
  item.d = plane - item.n * tiles.depth.divisor;
  return item;
}

struct Segment {
  u32 first;     // item
  u32 length;    // 0: there are no more
  u32 planes;    // one more where the last item needs the next
  bool halved;   // taken singly, at the end
  u32 of_batch;  // number of the segment among those of its batch item
};

__device__ inline Segment segment_at(const Tiles& tiles, u32 number) {
  const bool halved = number >= tiles.runs;
  const u32 rest = halved ? number - tiles.runs : number;
  const u32 in_order = halved ? tiles.depth.quotient(rest) : tiles.per_run.quotient(rest);
  const u32 per = halved ? tiles.depth.divisor : tiles.per_run.divisor;
  const u32 most = halved ? 1 : tiles.run;
  const u32 depth = (rest - in_order * per) * most;
  const u32 stack = in_order + (halved ? tiles.run_stacks : 0);
  // Stacks count n, then what lies in a plane.
  const u32 line = tiles.columns.quotient(stack);
  const u32 n = tiles.rows.quotient(line);
  Segment segment;
  segment.first = stack + (n * (tiles.depth.divisor - 1) + depth) * tiles.plane_items;
  segment.length =
      stack * tiles.depth.divisor >= tiles.items ? 0 : min(most, tiles.depth.divisor - depth);
  segment.halved = halved;
  segment.of_batch = rest - (in_order - (stack - n * tiles.plane_items)) * per;
  segment.planes = segment.length + (depth + segment.length < tiles.depth.divisor);
  return segment;
}
