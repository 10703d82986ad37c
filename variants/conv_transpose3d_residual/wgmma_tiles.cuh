// How the wgmma kernel cuts the problem: tiles, its two kinds of blocks, and what lies in their shared memory.
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
// (plane and row alike) or 1 and 2 (mixed): 15 or 12 taps, and as many outputs.
//
// Beside the weights is a ring of planes (5 rows each). Their way through a block:
//
//     x --bulk copy--> slot, raw --split in place--> slot, full --products--> registers --> y
//       a thread fetches          warps split            two warpgroups consume, in turns
//
// with a barrier for each step of each slot: raw, full, empty.
#pragma once

#include "variants/conv_transpose3d_residual/convolution.cuh"
#include "variants/conv_transpose3d_residual/wgmma_formats.cuh"
#include "variants/conv_transpose3d_residual/wgmma_pass.cuh"
#include "variants/conv_transpose3d_residual/wgmma_work.hd.hpp"

constexpr u32 parts = PRODUCTS == 3 ? 2 : 1;  // high halves, low halves
// A slot of the ring holds a plane as it is in x, [row][channel][column], then as tensor cores take it: in the same bytes of
// each 8 channels of a row their high halves, then their low ones; of TF32 of each row [column][channel].
constexpr u32 channels_8_bytes = 8 * tile_columns * 4;
constexpr u32 row_part_bytes = channels_8_bytes / 2;
constexpr u32 row_bytes = tile_channels * tile_columns * 4;
constexpr u32 plane_bytes = plane_rows * row_bytes;
constexpr u32 tap_part_bytes = block_channels * tile_channels * element_bytes;
constexpr u32 tap_bytes = parts * tap_part_bytes;
constexpr u32 row_tap_bytes = 3 * tap_bytes;
constexpr u32 all_taps = 27;

// In each dimension taps are kept in the order 1, 2, 0.
__device__ constexpr u32 tap_slot(u32 tap) { return tap == 0 ? 2 : tap - 1; }
// The first of a parity's row taps: they are kept by parity, in the order 0, 3, 1, 2.
__device__ constexpr u32 first_row_tap(u32 parity) {
  return parity % 3 == 0 ? parity / 3 : 3 + 2 * parity;
}

// Where a tap of the kernel, (depth * 3 + row) * 3 + column, is kept.
__device__ inline u32 slot_of_tap(u32 tap) {
  const u32 depth_tap = tap_slot(tap / 9);
  const u32 row_tap = tap_slot(tap / 3 % 3);
  const u32 odd_row = row_tap != 0;
  return (first_row_tap(2 * (depth_tap != 0) + odd_row) + depth_tap / 2 * (1 + odd_row) +
          row_tap / 2) *
             3 +
         tap_slot(tap % 3);
}

// One weight to its tap's place.
__device__ inline void keep_weight(unsigned char* tap, u32 out, u32 in, float value) {
#if FUSEBENCH_TF32
  *reinterpret_cast<u32*>(tap + swizzled_128(out, in * 4)) = to_tf32(value);
#else
  unsigned char* const place = tap + swizzled_64(out, in * 2);
  const u32 high = rounded_pair(value, 0.0f);
  *reinterpret_cast<unsigned short*>(place) = static_cast<unsigned short>(high);
  if (parts == 1) return;
  *reinterpret_cast<unsigned short*>(place + tap_part_bytes) =
      static_cast<unsigned short>(rest_pair(value, 0.0f, high));
#endif
}

// ---- Matrices of products of 32 bytes of K.

constexpr u32 k_steps = tile_channels * element_bytes / 32;
#if FUSEBENCH_TF32
constexpr u32 x_step_bytes = 32;
__device__ inline u64 matrix_of_weights(u32 address) { return matrix_128(address); }
__device__ inline u64 matrix_of_x(u32 address) { return matrix_128(address); }
#else
constexpr u32 x_step_bytes = 2 * channels_8_bytes;
__device__ inline u64 matrix_of_weights(u32 address) { return matrix_64(address, 16, 512); }
__device__ inline u64 matrix_of_x(u32 address) {
  return matrix_64(address, row_bytes, channels_8_bytes);
}
#endif

// Blocks are of two kinds, or all of one that does everything.
constexpr bool two_kinds = parts * element_bytes == 4;
constexpr u32 block_parities = two_kinds ? 2 : 4;
__device__ constexpr u32 block_parity(bool mixed, u32 i) {
  return mixed ? 1 + i : i < 2 ? 3 * i : i - 1;
}
__device__ constexpr u32 block_first_row_tap(bool mixed) { return mixed ? 5 : 0; }
__device__ constexpr u32 block_row_taps(bool mixed) { return !two_kinds ? 9 : mixed ? 4 : 5; }
#if PRODUCTS == 3 || FUSEBENCH_TF32
__device__ constexpr u32 block_slots(bool mixed) { return mixed ? MIXED_SLOTS : ALIKE_SLOTS; }
#else
__device__ constexpr u32 block_slots(bool) { return SLOTS; }
#endif

// Of scaled operands.
struct OfChannel {
  float conv_bias, b_plus_1;
  float unscaling;  // what products with the channel's weights are multiplied by
  // 0: the weights cannot be held as halves. Else the exponent field of unscaling, plus 1.
  u32 exponent;
};

constexpr u32 most_slots = 8;  // of the ring
constexpr u32 late_room = 3;   // fewer planes than this are in a block when it takes a single item
constexpr u32 head_bytes = FUSEBENCH_SCALED ? 2048 : 1024;  // barriers and what the slots hold
struct Head {
  u64 raw[most_slots];
  u64 full[most_slots];
  u64 empty[most_slots];
  u64 weights;
  u32 multiplies;         // warps of the consumer whose products go on
  u32 held[most_slots];   // see below
  u32 place[most_slots];  // the item whose plane it is
#if FUSEBENCH_SCALED
  Magnitudes met[8];  // by each of the splitting warps
  // The exponent field of what products with the slot's plane are multiplied by; or unusable.
  u32 exponent[most_slots];
  u32 least_exponent, greatest_exponent;  // of the channels' unscaling
  alignas(16) OfChannel channels[block_channels];
#endif
};
static_assert(sizeof(Head) <= head_bytes);
static_assert(block_slots(false) <= most_slots && block_slots(true) <= most_slots);
static_assert(block_slots(false) >= late_room && block_slots(true) >= late_room);
constexpr u32 unusable = 0xFFFF;
// What a slot holds: the item that begins in its plane, or `second_plane_only`, and these flags.
constexpr u32 item_bits = most_items - 1;
constexpr u32 second_plane_only = item_bits;
constexpr u32 scale_changed = most_items;    // from the plane before
constexpr u32 halved_item = 2 * most_items;  // both consumers do it, half of the parities each
constexpr u32 no_more = 4 * most_items;
// Beside `place`, of scaled operands: the first plane of a segment.
constexpr u32 segment_begins = FUSEBENCH_SCALED ? 4 * most_items : 0;
