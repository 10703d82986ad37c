// What the producer and the consumers of a wgmma block share: its arguments, its shared memory, and the ring of
// planes.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_formats.cuh"
#if FUSEBENCH_SCALED
#include "variants/conv_transpose3d_residual/wgmma_scaled_weights.cuh"
#else
#include "variants/conv_transpose3d_residual/wgmma_weights.cuh"
#endif

constexpr u32 warpgroup = 128;
constexpr u32 all_threads = 3 * warpgroup;
// The pool is what 384 threads were launched with: 2 * 224 + 56 is all of it.
constexpr u32 consumer_registers = 224;
constexpr u32 producer_registers = 56;

struct Arguments {
  float* y;
  const float *x, *w, *conv_bias, *b;
  Prepared prepared;
  Convolution s;
  Tiles tiles;
  u32 of_block;      // which 64 output channels
  u32 alike_blocks;  // blocks of the grid, the others are mixed
  u32 fetchers;      // see fetch_next_batch
};

extern __shared__ __align__(1024) unsigned char shared[];
__device__ inline Head* head() { return reinterpret_cast<Head*>(shared); }
__device__ inline u32 weights_address() { return shared_address(shared) + head_bytes; }

// threadIdx.x, asked for here: what derives from it would else be kept from the kernel's start, in registers that there
// are not.
__device__ inline u32 thread_now() {
  u32 thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

// Of a kind each block's first segment has its own number; the others are taken from a counter.
__device__ inline u32 first_number(const Arguments& a, bool mixed) {
  return blockIdx.x - (mixed ? a.alike_blocks : 0);
}

#if FUSEBENCH_SCALED
// In a slot's plane. Of whole warps.
__device__ inline u32 largest_of(u32 slot) {
  return __reduce_max_sync(~0u,
                           *const_cast<volatile u32*>(&head()->largest[slot][thread_now() % 4]));
}
__device__ inline u32 smallest_less_1_of(u32 slot) {
  return __reduce_min_sync(
      ~0u, *const_cast<volatile u32*>(&head()->smallest_less_1[slot][thread_now() % 4]));
}
// The exponent field of what products with a slot's plane are multiplied by; or unusable.
__device__ inline u32 exponent_of(u32 slot) {
  const Magnitudes all = {largest_of(slot), smallest_less_1_of(slot)};
  const u32 exponent = all.unscaling_exponent();
  // The product with any channel's unscaling must be a normal number.
  return all.representable() && exponent + min(128u, head()->least_exponent) >= 128 &&
                 exponent + head()->greatest_exponent <= 381
             ? exponent
             : unusable;
}
#endif

// A place in the ring of planes. No more than two registers: there are none to spare.
struct Ring {
  u32 slot = 0;
  u32 parity = 0;
  __device__ static u32 plane_of(u32 slot, bool mixed) {
    return weights_address() + block_row_taps(mixed) * row_tap_bytes + slot * plane_bytes;
  }
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
