// What the warps of a wgmma block share: their parts, its arguments, its shared memory, and the ring of planes.
#pragma once

#include "harness/device/cuda/tensor_map.hd.hpp"
#include "variants/conv_transpose3d_residual/wgmma_formats.cuh"
#if FUSEBENCH_SCALED
#include "variants/conv_transpose3d_residual/wgmma_scaled_weights.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_weights.cuh"
#endif

constexpr u32 warpgroup = 128;
// A block: two consuming warpgroups, then warps that split planes of x, and at the end one of which a thread fetches them.
// Those of TF32 split a row together, 8 channels each; seven others take 8 channels of a row each, then those that are seven
// further.
constexpr u32 all_threads = 4 * warpgroup;
constexpr u32 first_splitter = 2 * warpgroup;
constexpr u32 splitters = 32 * (FUSEBENCH_TF32 ? 4 : 7);
constexpr u32 fetcher = all_threads - 32;
// The pool is what 512 threads were launched with, 128 each.
constexpr u32 consumer_registers = 224;
constexpr u32 other_registers = 32;

struct Arguments {
  fusebench::TensorMap x_map;  // of the pass's channels of x, where `mapped`
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  Convolution s;
  Tiles tiles;
  u32 of_block;      // which 64 output channels
  u32 alike_blocks;  // blocks of the grid, the others are mixed
  u32 fetchers;      // see fetch_next_batch
  u32 mapped;        // else x is no tensor that bulk copies take
};

static_assert(sizeof(Arguments) == 448, "as in wgmma_double.cpp");

extern __shared__ __align__(1024) unsigned char shared[];
__device__ inline Head* head() { return reinterpret_cast<Head*>(shared); }
__device__ inline u32 weights_address() { return shared_address(shared) + head_bytes; }

// Whether the block is of the mixed kind.
__device__ inline bool mixed_now(const Arguments& a) { return block_now() >= a.alike_blocks; }

// Of a kind each block's first segment has its own number; the others are taken from a counter.
__device__ inline u32 first_number(const Arguments& a, bool mixed) {
  return blockIdx.x - (mixed ? a.alike_blocks : 0);
}

#if FUSEBENCH_SCALED
// The product with any channel's unscaling must be a normal number.
__device__ inline bool usable_exponent(u32 exponent) {
  return exponent + min(128u, head()->least_exponent) >= 128 &&
         exponent + head()->greatest_exponent <= 381;
}
#endif

// Of an item's two planes: the exponent fields of what products with them are multiplied by. In one register.
class Exponents {
 public:
  __device__ u32 first() const { return both_ & 0xFFFF; }
  __device__ u32 second() const { return both_ >> 16; }
  __device__ u32 apart() const { return first() - second(); }
  __device__ void set_first(u32 to) { both_ = (both_ & 0xFFFF0000u) | to; }
  __device__ void set_second(u32 to) { both_ = first() | to << 16; }
  // Whether both can be used and are not farther apart than what sums can take.
  __device__ bool usable() const {
    return first() != unusable && first() + 64 >= second() && second() + 64 >= first();
  }

 private:
  u32 both_ = unusable << 16 | unusable;
};

// A place in the ring of planes. No more than two registers: there are none to spare.
struct Ring {
  u32 slot = 0;
  u32 parity = 0;
  __device__ static u32 plane_of(u32 slot, bool mixed) {
    return weights_address() + block_row_taps(mixed) * row_tap_bytes + slot * plane_bytes;
  }
  __device__ static u32 raw_barrier_of(u32 slot) { return shared_address(head()->raw) + 8 * slot; }
  __device__ static u32 empty_barrier_of(u32 slot) {
    return shared_address(head()->empty) + 8 * slot;
  }
  __device__ u32 full_barrier() const { return shared_address(head()->full) + 8 * slot; }
  __device__ void advance(bool mixed) {
    if (++slot == block_slots(mixed)) {
      slot = 0;
      parity ^= 1;
    }
  }
};
