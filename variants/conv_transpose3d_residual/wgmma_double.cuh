// ConvTranspose3d with the residual epilogue in one kernel of wgmma instructions, for what doubles a volume
// (kernel 3, stride 2, padding 1, output padding 1). wgmma_tiles.cuh has the picture; of more than 32 input channels this is
// one of several passes (wgmma_pass.cuh).
//
// Four warpgroups a block: a thread fetches planes of x, warps split them, and two warpgroups, the consumers, take items in
// turn, or at the end halve them, multiply, and write. While one waits for its products the other writes.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_epilogue.cuh"
#include "variants/conv_transpose3d_residual/wgmma_products.cuh"
#include "variants/conv_transpose3d_residual/wgmma_split.cuh"

__device__ __forceinline__ void consume(const Arguments& a, bool mixed) {
#if PASS != 0
  const Finish finish;
#else
  const u32 channel = threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;  // in the block
#if FUSEBENCH_SCALED
  const Finish finish = {{head()->channels[channel], head()->channels[channel + 8]}};
#else
  const float2* const coefficients = a.prepared.coefficients + a.of_block * block_channels;
  const Finish finish = {{__ldcg(coefficients + channel), __ldcg(coefficients + channel + 8)}};
#endif
#endif
  const auto release = [&](u32 slot) {
    if (thread_now() % 32 == 0) barrier_arrive(Ring::empty_barrier_of(slot));
  };
  Ring ring;
  // Of scaled operands: the first plane's and the second's.
  Exponents exponents;
  const auto held = [&] {
    barrier_wait(ring.full_barrier(), ring.parity);
    const u32 word = __shfl_sync(~0u, *const_cast<volatile u32*>(&head()->held[ring.slot]), 0);
#if FUSEBENCH_SCALED
    // To ask takes time.
    if (word & scale_changed) {
      exponents.set_second(
          __shfl_sync(~0u, *const_cast<volatile u32*>(&head()->exponent[ring.slot]), 0));
    }
#endif
    return word;
  };
  // Items alternate between the two warpgroups, where they are not halved: each takes those at which its own `turn` is even.
  // Uniform, or wgmma is serialised.
  u32 turn = __shfl_sync(~0u, threadIdx.x / warpgroup, 0);
  barrier_wait(shared_address(&head()->weights), 0);
  for (;;) {
    const u32 found = held();
    if (found & no_more) break;
    const u32 index = found & item_bits;
    const bool halved = found & halved_item;
    if (index == second_plane_only || (!halved && turn % 2 != 0)) {
      turn += index != second_plane_only;
      release(ring.slot);
      ring.advance(mixed);
      continue;
    }
    ++turn;
    const u32 first = ring.slot;
    u32 second = first;
    const u32 exponent = exponents.second();
    ring.advance(mixed);
    if (item_at(a.tiles, index).d + 1 < a.tiles.depth.divisor) {
      turn += (held() & item_bits) != second_plane_only;
      second = ring.slot;
      ring.advance(mixed);
    }
    exponents.set_first(exponent);
    // Halves differ in their products: each warpgroup takes now the one, now the other.
    u32 begin = 0;
    u32 end = block_parities;
    if (halved) {
      begin = turn % 2 * (block_parities / 2);
      end = begin + block_parities / 2;
    }
#pragma unroll 1
    for (u32 i = begin; i < end; ++i) {
      const u32 parity = block_parity(mixed, i);
      const u32 odd_plane = parity / 2;
      const u32 odd_row = parity % 2;
      if (adds_to_y) {
        const Item item = item_at(a.tiles, index);
        fetch_before(a, item, 2 * item.d + odd_plane, odd_row);
      }
      begin_products();
      Sums sums;
      multiply_item(
          sums,
          weights_address() + (first_row_tap(parity) - block_first_row_tap(mixed)) * row_tap_bytes,
          Ring::plane_of(first, mixed), Ring::plane_of(second, mixed),
          odd_plane && first != second ? 2 : 1, 1 + odd_row, exponents);
      end_products();
      if (i + 1 == end) {
        release(first);
        if (first != second) release(second);
      }
      // Found anew, since no register holds it through the products.
      const Item item = item_at(a.tiles, index);
      const u32 out_d = 2 * item.d + odd_plane;
      // Two positions are 16 bytes.
      const bool whole = item.h0 + tile_rows <= a.s.input[1] && a.s.input[2] == tile_columns &&
                         (a.of_block + 1) * block_channels <= a.s.out_channels &&
                         (reinterpret_cast<u64>(a.y) & 15) == 0;
      // Two ifs, not one with an else: so ptxas puts the first of the three right behind the products. Code that lies more than
      // 64 KB from the kernel's start comes slowly when it is first run, and every block waits for it.
      const auto halves = [&] { return !FUSEBENCH_SCALED || exponents.usable(); };
      if (halves() && whole) {
        write_item<true>(sums, a, item, finish, exponents, index, out_d, odd_row);
      }
      if (!(halves() && whole)) {
        if (halves()) {
          write_item<false>(sums, a, item, finish, exponents, index, out_d, odd_row);
        } else {
          write_item_directly(a, item, out_d, odd_row);
        }
      }
    }
  }
}

__device__ __forceinline__ void double_volume(const Arguments& a) {
  const bool mixed = blockIdx.x >= a.alike_blocks;
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < most_slots; ++i) {
      barrier_init(shared_address(head()->full) + 8 * i, splitters);
      barrier_init(Ring::raw_barrier_of(i), 1);                     // the fetching thread
      barrier_init(Ring::empty_barrier_of(i), 2 * warpgroup / 32);  // each consumer warp
    }
    barrier_init(shared_address(&head()->weights), 1);
    head()->multiplies = 0;
    barrier_init_done();
#if FUSEBENCH_SCALED
    head()->least_exponent = ~0u;
    head()->greatest_exponent = 0;
#endif
  }
  __syncthreads();
  const u32 begun = threadIdx.x == fetcher ? fetch_first_planes(a, mixed) : 0;
  wait_for_kernel_before();
#if FUSEBENCH_SCALED
  if (threadIdx.x < block_channels) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(
        a.prepared.channels + a.of_block * block_channels + threadIdx.x));
    reinterpret_cast<float4*>(head()->channels)[threadIdx.x] = v;
    // With weights that halves do not hold no plane can be used.
    const u32 exponent = __float_as_uint(v.w);
    atomicMin(&head()->least_exponent, exponent - 1);
    atomicMax(&head()->greatest_exponent, exponent == 0 ? unusable : exponent - 1);
  }
  __syncthreads();
#else
  bool unusual = false;
  for (u32 i = threadIdx.x; i < pack_blocks; i += all_threads) {
    unusual |= __ldcg(a.prepared.unusual + a.of_block * pack_blocks + i) != 0;
  }
  if (__syncthreads_or(unusual)) {
    write_all_directly(a);
    for (u32 i = 0; i < begun; ++i) barrier_wait(Ring::raw_barrier_of(i), 0);
    return;
  }
#endif
  const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (warp < first_splitter / 32) {
    claim_registers<consumer_registers>();
    consume(a, mixed);
  } else {
    release_registers<other_registers>();
    if (warp < first_splitter / 32 + splitters / 32) {
      split(a);
    } else if (threadIdx.x == fetcher) {
      fetch_weights(a, mixed);
      fetch(a, mixed);
    }
  }
}

extern "C" __global__ void __launch_bounds__(pack_threads)
    FUSEBENCH_KERNEL(pack)(const __grid_constant__ Arguments a) {
  pack(a.prepared, a.w, a.conv_bias, a.b, a.s);
}

extern "C" __global__ void __launch_bounds__(all_threads, 1)
    FUSEBENCH_KERNEL(convolve)(const __grid_constant__ Arguments a) {
  double_volume(a);
}
