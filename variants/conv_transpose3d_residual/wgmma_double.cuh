// ConvTranspose3d with the residual epilogue in one kernel of wgmma instructions, for what doubles a volume
// (kernel 3, stride 2, padding 1, output padding 1). wgmma_tiles.cuh has the picture.
//
// Three warpgroups a block: one reads planes of x, splits them and fills the ring; two take items in turn, or at the
// end halve them, multiply, and write. While one waits for its products the other writes.
#pragma once

#include "harness/device/cuda/kernels/cache_policy.cuh"
#include "variants/conv_transpose3d_residual/wgmma_producer.cuh"

// The sums of 4 x 32 positions for one row parity, by column tap.
struct Sums {
  float tap1[64], tap2[64], tap0[64];
};

// Of one parity. `taps` is the shared address of its weights; the item's plane and, where `planes` is 2, the next
// one are at the other two.
__device__ inline void multiply_item(Sums& sums, u32 taps, u32 first_plane, u32 second_plane,
                                     u32 planes, u32 rows) {
  wgmma_begin();
  u32 add = 0;
#pragma unroll 1
  for (u32 plane = 0; plane < planes; ++plane) {
#pragma unroll 1
    for (u32 row = 0; row < rows; ++row, taps += row_tap_bytes) {
      const u64 w = matrix_64(taps, 16, 512);
      const u64 x =
          matrix_64((plane == 0 ? first_plane : second_plane) + row * row_bytes, row_bytes, 512);
#pragma unroll
      for (u32 step = 0; step < tile_channels / 16; ++step) {
        const u64 x_high = moved(x, step * 16 * 64);
        const u64 w_high = moved(w, step * 32);
#if PRODUCTS == 3  // the small ones first
        const u64 x_low = moved(x_high, row_part_bytes);
        const u64 w_low = moved(w_high, tap_part_bytes);
#define FUSEBENCH_TAP(d, at)                  \
  multiply(d, moved(w_low, at), x_high, add); \
  multiply(d, moved(w_high, at), x_low, 1);   \
  multiply(d, moved(w_high, at), x_high, 1)
#else
#define FUSEBENCH_TAP(d, at) multiply(d, moved(w_high, at), x_high, add)
#endif
        FUSEBENCH_TAP(sums.tap1, 0);
        FUSEBENCH_TAP(sums.tap2, tap_bytes);
        FUSEBENCH_TAP(sums.tap0, 2 * tap_bytes);
        add = 1;
      }
    }
  }
  wgmma_end();
  wgmma_results(sums.tap1);
  wgmma_results(sums.tap2);
  wgmma_results(sums.tap0);
}

__device__ inline float finish(float sum, float2 coefficients) {
  return fmaf(sum, fmaf(2.0f, sum, coefficients.x), coefficients.y);
}

// A thread's part of y: two channels, 8 apart, and in each row of the tile four times four columns. WHOLE: all
// of it exists, and rows begin at multiples of 16 bytes.
template <bool WHOLE>
__device__ inline void write_item(const Sums& sums, const Arguments& a, const Item& item,
                                  const float2 (&coefficients)[2], u32 out_d, u32 odd_row) {
  const Convolution& s = a.s;
  const u32 lane = threadIdx.x % 32;
  const u32 quarter = lane % 4;
  const u32 neighbour = (lane & ~3u) | ((quarter + 1) & 3);
  const u32 channel = a.of_block * block_channels + threadIdx.x % warpgroup / 32 * 16 + lane / 4;
  const u32 left = s.input[2] - item.w0;
  const u32 columns = 2 * (left > tile_columns ? column_step : left);
  float* to = a.y + (u64(item.n) * s.out_channels + channel) * (s.outputs_of_channel) +
              (u64(out_d) * s.output[1] + 2 * item.h0 + odd_row) * s.output[2] + 2 * item.w0 +
              4 * quarter;
#pragma unroll
  for (u32 half = 0; half < 2; ++half, to += 8 * s.outputs_of_channel) {
    const float2 mine = coefficients[half];
#pragma unroll
    for (u32 row = 0; row < tile_rows; ++row) {
#pragma unroll
      for (u32 group = 0; group < 4; ++group) {
        const u32 at = 4 * (4 * row + group) + 2 * half;
        // Tap 0 of the next column: its neighbour holds it, in the next group of 8 for the last of four.
        const float next_group = group == 3 ? 0.0f : sums.tap0[at + (group == 3 ? 0 : 4)];
        const float given = quarter == 0 ? next_group : sums.tap0[at];
        const float next = __shfl_sync(~0u, given, neighbour);
        const float4 value = make_float4(
            finish(sums.tap1[at], mine), finish(sums.tap2[at] + sums.tap0[at + 1], mine),
            finish(sums.tap1[at + 1], mine), finish(sums.tap2[at + 1] + next, mine));
        float* const place = to + row * 2 * s.output[2] + group * 16;
        if (WHOLE) {
          STORE(reinterpret_cast<float4*>(place), value);
          continue;
        }
        const u32 column = group * 16 + 4 * quarter;
        if (channel + 8 * half >= s.out_channels || item.h0 + row >= s.input[1]) continue;
        if (column >= columns) continue;
        place[0] = value.x;
        place[1] = value.y;
        if (column + 2 >= columns) continue;
        place[2] = value.z;
        place[3] = value.w;
      }
    }
  }
}

__device__ inline void consume(const Arguments& a, bool mixed) {
  const u32 mine = __shfl_sync(~0u, threadIdx.x / warpgroup, 0);  // uniform, or wgmma is serialised
  const u32 lane = threadIdx.x % 32;
  const u32 channel = a.of_block * block_channels + threadIdx.x % warpgroup / 32 * 16 + lane / 4;
  const float2 coefficients[2] = {__ldcg(a.prepared.coefficients + channel),
                                  __ldcg(a.prepared.coefficients + channel + 8)};
  barrier_wait(shared_address(&head()->weights), 0);
  const auto release = [&](u32 slot) {
    if (lane == 0) barrier_arrive(Ring::empty_barrier_of(slot));
  };
  Ring ring;
  const auto held = [&] {
    barrier_wait(ring.full_barrier(), ring.parity);
    return __shfl_sync(~0u, *const_cast<volatile int*>(&head()->held[ring.slot]), 0);
  };
  u32 turn = 0;  // items alternate between the two warpgroups, where they are not halved
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
    ring.advance(mixed);
    if (item_at(a.tiles, index).d + 1 < a.tiles.depth.divisor) {
      turn += held() != second_plane_only;
      second = ring.slot;
      ring.advance(mixed);
    }
    // Halves differ in their products: each warpgroup takes now the one, now the other.
    const u32 begin = halved ? (mine + turn) % 2 * (block_parities / 2) : 0;
    const u32 end = halved ? begin + block_parities / 2 : block_parities;
#pragma unroll 1
    for (u32 i = begin; i < end; ++i) {
      const u32 parity = block_parity(mixed, i);
      const u32 odd_plane = parity / 2;
      const u32 odd_row = parity % 2;
      Sums sums;
      multiply_item(
          sums,
          weights_address() + (first_row_tap(parity) - block_first_row_tap(mixed)) * row_tap_bytes,
          Ring::plane_of(first, mixed), Ring::plane_of(second, mixed),
          odd_plane && first != second ? 2 : 1, 1 + odd_row);
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
      if (whole) {
        write_item<true>(sums, a, item, coefficients, out_d, odd_row);
      } else {
        write_item<false>(sums, a, item, coefficients, out_d, odd_row);
      }
    }
  }
}

// The same by the definition, for weights and biases that `pack` found unusual.
__device__ inline void compute_directly(const Arguments& a) {
  const Convolution& s = a.s;
  const u32 first = a.of_block * block_channels;
  const u32 channels = min(block_channels, s.out_channels - first);
  const u64 positions = u64(s.output[0]) * s.output[1] * s.output[2];
  const u64 count = u64(s.n) * channels * positions;
  for (u64 i = blockIdx.x * u64(all_threads) + threadIdx.x; i < count;
       i += u64(gridDim.x) * all_threads) {
    const u64 volume = i / positions;
    const u32 n = volume / channels;
    const u32 channel = first + (volume - u64(n) * channels);
    const u64 position = i - volume * positions;
    const u32 line = position / s.output[2];
    const float sum = convolve_directly(a.x, a.w, s, n, channel, line / s.output[1],
                                        line % s.output[1], position - u64(line) * s.output[2]);
    const float c = sum + (a.conv_bias != nullptr ? __ldg(a.conv_bias + channel) : 0.0f);
    a.y[(u64(n) * s.out_channels + channel) * positions + position] =
        c * fmaf(2.0f, c, __ldg(a.b + channel) + 1.0f);
  }
}

__device__ inline void double_volume(const Arguments& a) {
  const bool mixed = blockIdx.x >= a.alike_blocks;
  const u32 weights_barrier = shared_address(&head()->weights);
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < most_slots; ++i) {
      barrier_init(shared_address(head()->full) + 8 * i, warpgroup);
      barrier_init(Ring::empty_barrier_of(i), 2 * warpgroup / 32);  // each consumer warp
    }
    barrier_init(weights_barrier, 1);
    barrier_init_done();
  }
  if (threadIdx.x >= 2 * warpgroup) fetch_first_planes(a, first_number(a, mixed));
  wait_for_kernel_before();
  bool unusual = false;
  for (u32 i = threadIdx.x; i < pack_blocks; i += all_threads) {
    unusual |= __ldcg(a.prepared.unusual + a.of_block * pack_blocks + i) != 0;
  }
  if (__syncthreads_or(unusual)) {
    compute_directly(a);
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
    pack(const __grid_constant__ Arguments a) {
  pack(a.prepared, a.w, a.conv_bias, a.b, a.s);
}

extern "C" __global__ void __launch_bounds__(all_threads, 1)
    convolve(const __grid_constant__ Arguments a) {
  double_volume(a);
}
