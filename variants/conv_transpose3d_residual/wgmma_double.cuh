// ConvTranspose3d with the residual epilogue in one kernel of wgmma instructions, for what doubles a volume
// (kernel 3, stride 2, padding 1, output padding 1). wgmma_tiles.cuh has the picture; of more than 32 input channels this is
// one of several passes (wgmma_pass.cuh).
//
// Three warpgroups a block: one reads planes of x, splits them and fills the ring; two take items in turn, or at the
// end halve them, multiply, and write. While one waits for its products the other writes.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_epilogue.cuh"
#include "variants/conv_transpose3d_residual/wgmma_producer.cuh"
#include "variants/conv_transpose3d_residual/wgmma_products.cuh"

__device__ __forceinline__ void consume(const Arguments& a, bool mixed) {
  const u32 mine = __shfl_sync(~0u, threadIdx.x / warpgroup, 0);  // uniform, or wgmma is serialised
#if PASS != 0
  Finish finish = {0};
#else
  const u32 channel = threadIdx.x % warpgroup / 32 * 16 + threadIdx.x % 32 / 4;  // in the block
#if FUSEBENCH_SCALED
  Finish finish = {0, {head()->channels[channel], head()->channels[channel + 8]}};
#else
  const float2* const coefficients = a.prepared.coefficients + a.of_block * block_channels;
  const Finish finish = {{__ldcg(coefficients + channel), __ldcg(coefficients + channel + 8)}};
#endif
#endif
  const auto release = [&](u32 slot) {
    if (thread_now() % 32 == 0) barrier_arrive(Ring::empty_barrier_of(slot));
  };
  Ring ring;
#if FUSEBENCH_SCALED
  u32 exponent = 0;  // of the plane last waited for
#endif
  const auto held = [&] {
    barrier_wait(ring.full_barrier(), ring.parity);
#if FUSEBENCH_SCALED
    exponent = __shfl_sync(~0u, *const_cast<volatile u32*>(&head()->exponent[ring.slot]), 0);
#endif
    return __shfl_sync(~0u, *const_cast<volatile int*>(&head()->held[ring.slot]), 0);
  };
#if FUSEBENCH_SCALED
  // The first plane's and the second's, which may be farther apart than what sums can take.
  const auto exponents_of = [](u32 one, u32 other) {
    const bool usable =
        one != unusable && other != unusable && one + 64 >= other && other + 64 >= one;
    return usable ? one | other << 8 : unusable;
  };
#endif
  u32 turn = 0;  // items alternate between the two warpgroups, where they are not halved
  barrier_wait(shared_address(&head()->weights), 0);
  for (;;) {
    const int found = held();
    if (found == no_more) break;
    const bool halved = found >= halved_item;
    if (found == second_plane_only || (!halved && turn % 2 != mine)) {
      turn += found != second_plane_only;
      release(ring.slot);
      ring.advance(mixed);
      continue;
    }
    ++turn;
    const u32 index = static_cast<u32>(found) - halved * halved_item;
    const u32 first = ring.slot;
    u32 second = first;
    u32 exponents = 0;
#if FUSEBENCH_SCALED
    const u32 first_exponent = exponent;
#endif
    ring.advance(mixed);
    if (item_at(a.tiles, index).d + 1 < a.tiles.depth.divisor) {
      turn += held() != second_plane_only;
      second = ring.slot;
      ring.advance(mixed);
    }
#if FUSEBENCH_SCALED
    exponents = exponents_of(first_exponent, exponent);
    finish.exponents = exponents;
#endif
    // Halves differ in their products: each warpgroup takes now the one, now the other.
    u32 begin = 0;
    u32 end = block_parities;
    if (halved) {
      begin = (mine + turn) % 2 * (block_parities / 2);
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
      Sums sums;
      multiply_item(
          sums,
          weights_address() + (first_row_tap(parity) - block_first_row_tap(mixed)) * row_tap_bytes,
          Ring::plane_of(first, mixed), Ring::plane_of(second, mixed),
          odd_plane && first != second ? 2 : 1, 1 + odd_row, exponents);
      if (i + 1 == end) {
        release(first);
        if (first != second) release(second);
      }
      // Found anew, since no register holds it through the products.
      const Item item = item_at(a.tiles, index);
      const u32 out_d = 2 * item.d + odd_plane;
#if FUSEBENCH_SCALED
      if (exponents == unusable) {
        write_item_directly(a, item, out_d, odd_row);
        continue;
      }
#endif
      // Two positions are 16 bytes.
      const bool whole = item.h0 + tile_rows <= a.s.input[1] && a.s.input[2] == tile_columns &&
                         (a.of_block + 1) * block_channels <= a.s.out_channels &&
                         (reinterpret_cast<u64>(a.y) & 15) == 0;
      if (whole) {
        write_item<true>(sums, a, item, finish, out_d, odd_row);
      } else {
        write_item<false>(sums, a, item, finish, out_d, odd_row);
      }
    }
  }
}

__device__ __forceinline__ void double_volume(const Arguments& a) {
  const bool mixed = blockIdx.x >= a.alike_blocks;
  const u32 weights_barrier = shared_address(&head()->weights);
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < most_slots; ++i) {
      barrier_init(shared_address(head()->full) + 8 * i, warpgroup);
      barrier_init(Ring::empty_barrier_of(i), 2 * warpgroup / 32);  // each consumer warp
    }
    barrier_init(weights_barrier, 1);
    barrier_init_done();
#if FUSEBENCH_SCALED
    head()->least_exponent = ~0u;
    head()->greatest_exponent = 0;
#endif
  }
#if FUSEBENCH_SCALED
  __syncthreads();
#endif
  if (threadIdx.x >= 2 * warpgroup) fetch_first_planes(a, first_number(a, mixed));
  wait_for_kernel_before();
  bool unusual = false;
#if FUSEBENCH_SCALED
  if (threadIdx.x < block_channels) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(
        a.prepared.channels + a.of_block * block_channels + threadIdx.x));
    reinterpret_cast<float4*>(head()->channels)[threadIdx.x] = v;
    const u32 exponent = __float_as_uint(v.w);
    unusual = exponent == 0;
    atomicMin(&head()->least_exponent, exponent - 1);
    atomicMax(&head()->greatest_exponent, exponent - 1);
  }
#else
  for (u32 i = threadIdx.x; i < pack_blocks; i += all_threads) {
    unusual |= __ldcg(a.prepared.unusual + a.of_block * pack_blocks + i) != 0;
  }
#endif
  if (__syncthreads_or(unusual)) {
    write_all_directly(a);
    return;
  }
  if (__shfl_sync(~0u, threadIdx.x / warpgroup, 0) == 2) {
    release_registers<producer_registers>();
    if (threadIdx.x == 2 * warpgroup) {
      const unsigned char* from = a.prepared.weights + u64(a.of_block) * all_taps * tap_bytes +
                                  block_first_row_tap(mixed) * row_tap_bytes;
      const u32 row_taps = block_row_taps(mixed);
      barrier_arrive_expecting(weights_barrier, row_taps * row_tap_bytes);
#pragma unroll 1
      for (u32 i = 0; i < row_taps; ++i) {
        bulk_copy(weights_address() + i * row_tap_bytes, from + i * row_tap_bytes, row_tap_bytes,
                  weights_barrier);
      }
    }
    if (a.s.input[2] % 4 == 0 && a.s.input[2] <= tile_columns &&
        (reinterpret_cast<u64>(a.x) & 15) == 0) {
      produce<true>(a, mixed);
    } else {
      produce<false>(a, mixed);
    }
  } else {
    claim_registers<consumer_registers>();
    consume(a, mixed);
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
