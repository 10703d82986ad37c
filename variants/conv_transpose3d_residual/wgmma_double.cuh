// ConvTranspose3d with the residual epilogue in one kernel of wgmma instructions, for what doubles a volume
// (kernel 3, stride 2, padding 1, output padding 1). wgmma_tiles.cuh has the picture.
//
// Three warpgroups a block: one reads planes of x, splits them and fills the ring; two take items in turn,
// multiply, and write. While one waits for its products the other writes.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_weights.cuh"
#include "variants/residual_epilogue/epilogue.cuh"

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
  u32 of_block;      // which 64 output channels
  u32 odd_blocks;    // the blocks of the grid that write odd planes
  u32 long_columns;  // how many stacks of items the odd blocks take in long segments
};

struct Ring {
  u32 planes;  // shared address of the first slot's plane
  u32 slots;
  u32 full, empty;  // shared addresses of the slots' barriers
  u32 slot = 0;
  u32 parity = 0;
  __device__ u32 plane() const { return planes + slot * plane_bytes; }
  __device__ u32 full_barrier() const { return full + 8 * slot; }
  __device__ u32 empty_barrier() const { return empty + 8 * slot; }
  __device__ void advance() {
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

// ---- The producer

__device__ inline u64 keep_policy() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
  return policy;
}
// 16 bytes where `exists`, else zeros; no branch, so that many can be on their way.
__device__ inline float4 load_x4(const float* from, u32 exists, u64 policy) {
  float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#if KEEP_X
  asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %5, 0;\n"
               "@p ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %6; }"
               : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
               : "l"(from), "r"(exists), "l"(policy));
#else
  asm volatile("{ .reg .pred p;\n setp.ne.u32 p, %5, 0;\n"
               "@p ld.global.nc.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4]; }"
               : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
               : "l"(from), "r"(exists));
#endif
  return value;
}

// A thread's share of a plane: 4 columns of 2 channels, 16 apart, in each of 5 rows, all in flight at once.
class PlaneLoader {
 public:
  __device__ PlaneLoader(const Arguments& a, u32 thread)
      : s_(a.s),
        x_(a.x),
        channel_(thread / 32 * 4 + thread % 32 / 8),
        column_(thread % 8 * 4),
        policy_(keep_policy()),
        // Whole rows are one tile and begin at multiples of 16 bytes.
        wide_(a.s.input[2] % 4 == 0 && a.s.input[2] <= tile_columns &&
              (reinterpret_cast<u64>(a.x) & 15) == 0) {}

  __device__ void load(const Item& item, u32 d) {
    const u32 w = item.w0 + column_;
    const u32 rows = w < s_.input[2] ? min(plane_rows, s_.input[1] - item.h0) : 0;
    const u64 volume = u64(s_.input[0]) * (s_.input[1] * s_.input[2]);
    const float* from = x_ + (u64(item.n) * s_.in_channels + channel_) * volume +
                        (u64(d) * s_.input[1] + item.h0) * s_.input[2] + w;
    const u32 rows_of[2] = {channel_ < s_.in_channels ? rows : 0,
                            channel_ + 16 < s_.in_channels ? rows : 0};
    if (wide_) {
#pragma unroll
      for (u32 i = 0; i < 2 * plane_rows; ++i) {
        const u32 row = i % plane_rows;
        const u32 second = i / plane_rows;
        value_[i] = load_x4(from + second * 16 * volume + row * s_.input[2], row < rows_of[second],
                            policy_);
      }
      return;
    }
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      const u32 row = i % plane_rows;
      const u32 second = i / plane_rows;
      value_[i] = row < rows_of[second]
                      ? load_some(from + second * 16 * volume + row * s_.input[2], s_.input[2] - w)
                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
  }

  __device__ void store(u32 plane) const {
    const u32 place = plane + swizzled_64(channel_, column_ * 2);
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      // 16 channels further the swizzle is the same.
      const u32 to = place + i % plane_rows * row_bytes + i / plane_rows * 16 * 64;
      const float4& v = value_[i];
      const u32 a = rounded_pair(v.x, v.y);
      const u32 b = rounded_pair(v.z, v.w);
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
      if (parts == 1) continue;
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to + row_part_bytes),
                   "r"(rest_pair(v.x, v.y, a)), "r"(rest_pair(v.z, v.w, b))
                   : "memory");
    }
  }

 private:
  __device__ static float4 load_some(const float* from, u32 count) {
    return make_float4(__ldg(from), count > 1 ? __ldg(from + 1) : 0.0f,
                       count > 2 ? __ldg(from + 2) : 0.0f, count > 3 ? __ldg(from + 3) : 0.0f);
  }

  const Convolution& s_;
  const float* x_;
  u32 channel_, column_;
  u64 policy_;
  bool wide_;
  float4 value_[2 * plane_rows];
};

__device__ inline void produce(const Arguments& a, const Tiles& tiles, Head* head, Ring ring,
                               bool odd) {
  const u32 thread = threadIdx.x - 2 * warpgroup;
  PlaneLoader loader(a, thread);
  u32* const counter = a.prepared.counters + (a.of_block * 2 + odd) * 32;
  ring.parity = 1;  // slots are empty at first
  u32 next = 0;
  if (thread == 0) next = atomicAdd(counter, 1);
  for (u32 round = 0;; round ^= 1) {
    if (thread == 0) head->segment[round] = static_cast<int>(next);
    asm volatile("bar.sync 1, 128;" ::: "memory");
    const u32 number = static_cast<u32>(*const_cast<volatile int*>(&head->segment[round]));
    const Segment segment =
        odd ? odd_segment(tiles, a.long_columns, number) : even_segment(tiles, number);
    if (segment.length == 0) break;
    if (thread == 0) next = atomicAdd(counter, 1);
    const Item first = item_at(tiles, segment.first);
    const u32 planes = segment.length + (odd && segment.depth + segment.length < tiles.depth);
#pragma unroll 1
    for (u32 i = 0; i < planes; ++i) {
      loader.load(first, first.d + i);
      barrier_wait(ring.empty_barrier(), ring.parity);
      loader.store(ring.plane());
      if (thread == 0) {
        head->held[ring.slot] =
            i < segment.length ? static_cast<int>(segment.first + i * tiles.rows * tiles.columns)
                               : second_plane_only;
      }
      publish_to_tensor_cores();
      barrier_arrive(ring.full_barrier());
      ring.advance();
    }
  }
  barrier_wait(ring.empty_barrier(), ring.parity);
  if (thread == 0) head->held[ring.slot] = no_more;
  barrier_arrive(ring.full_barrier());
}

// ---- The consumers

// The sums of 4 x 32 positions for one row parity, by column tap.
struct Sums {
  float tap1[64], tap2[64], tap0[64];
};

// The item's plane and, where `count` is 2, the next one are at these shared addresses.
__device__ inline void multiply_item(Sums& sums, u32 first_plane, u32 second_plane, u32 count,
                                     u32 weights, u32 odd_row) {
  wgmma_begin();
  u32 add = 0;
#pragma unroll 1
  for (u32 plane = 0; plane < count; ++plane) {
#pragma unroll 1
    for (u32 row = 0; row <= odd_row; ++row) {
      // Slots of row taps: 1 for even rows; 2, then 0 for odd ones.
      const u32 taps = weights + (plane * 3 + odd_row + row) * 3 * tap_bytes;
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

__device__ inline float finish(float sum, float2 bias) {
  const float c = sum + bias.x;
  return c * fmaf(2.0f, c, bias.y);
}

// Where a thread's part of y begins, and what of it exists: two channels, 8 apart, and in each row of the tile
// four times four columns.
struct Target {
  float* y;            // of the first channel, at the thread's first column
  u64 channel_step;    // 8 channels further
  u32 row_step;        // the output row of the next input row
  u32 rows, channels;  // of 4, of 2
  u32 columns;         // of 64, from the thread's first
  bool whole;          // all of that, and in pieces of 16 bytes
};

__device__ inline Target target_of(const Arguments& a, const Item& item, u32 channel, u32 out_d,
                                   bool wide) {
  const Convolution& s = a.s;
  const u32 quarter = threadIdx.x % 4;
  const u32 left = s.input[2] - item.w0;
  const u32 columns = 2 * (left > tile_columns ? column_step : left);
  const u64 volume = u64(s.output[0]) * s.output[1] * s.output[2];
  Target target;
  target.y = a.y + (u64(item.n) * s.out_channels + channel) * volume +
             (u64(out_d) * s.output[1] + 2 * item.h0) * s.output[2] + 2 * item.w0 + 4 * quarter;
  target.channel_step = 8 * volume;
  target.row_step = 2 * s.output[2];
  target.rows = min(tile_rows, s.input[1] - item.h0);
  target.channels = channel >= s.out_channels ? 0 : channel + 8 >= s.out_channels ? 1 : 2;
  target.columns = max(columns, 4 * quarter) - 4 * quarter;
  target.whole = wide && target.rows == tile_rows && columns == 2 * tile_columns &&
                 (a.of_block + 1) * block_channels <= s.out_channels;
  return target;
}

template <bool WHOLE>
__device__ inline void write_item(const Sums& sums, const Target& target, const float2 (&biases)[2],
                                  bool wide) {
  const u32 lane = threadIdx.x % 32;
  const u32 quarter = lane % 4;
  const u32 neighbour = (lane & ~3u) | ((quarter + 1) & 3);
#pragma unroll
  for (u32 half = 0; half < 2; ++half) {
    const float2 bias = biases[half];
    float* to = target.y + half * target.channel_step;
#pragma unroll
    for (u32 row = 0; row < tile_rows; ++row, to += target.row_step) {
#pragma unroll
      for (u32 group = 0; group < 4; ++group) {
        const u32 at = 4 * (4 * row + group) + 2 * half;
        // Tap 0 of the next column: its neighbour holds it, in the next group of 8 for the last of four.
        const float next_group = group == 3 ? 0.0f : sums.tap0[at + (group == 3 ? 0 : 4)];
        const float given = quarter == 0 ? next_group : sums.tap0[at];
        const float next = __shfl_sync(~0u, given, neighbour);
        const float4 value = make_float4(
            finish(sums.tap1[at], bias), finish(sums.tap2[at] + sums.tap0[at + 1], bias),
            finish(sums.tap1[at + 1], bias), finish(sums.tap2[at + 1] + next, bias));
        float* const place = to + group * 16;
        if (WHOLE) {
          STORE(reinterpret_cast<float4*>(place), value);
          continue;
        }
        if (half >= target.channels || row >= target.rows || group * 16 >= target.columns) continue;
        if (wide) {
          STORE(reinterpret_cast<float4*>(place), value);
          continue;
        }
        place[0] = value.x;
        place[1] = value.y;
        if (group * 16 + 2 >= target.columns) continue;
        place[2] = value.z;
        place[3] = value.w;
      }
    }
  }
}

__device__ inline void consume(const Arguments& a, const Tiles& tiles, Head* head, Ring ring,
                               bool odd, u32 weights) {
  const u32 mine = __shfl_sync(~0u, threadIdx.x / warpgroup, 0);  // uniform, or wgmma is serialised
  const u32 lane = threadIdx.x % 32;
  const u32 row = threadIdx.x % warpgroup / 32 * 16 + lane / 4;
  const u32 channel = a.of_block * block_channels + row;
  const float2 biases[2] = {__ldcg(a.prepared.biases + channel),
                            __ldcg(a.prepared.biases + channel + 8)};
  // Two positions are 16 bytes, and rows begin at multiples of that.
  const bool wide = a.s.input[2] % 2 == 0 && a.s.input[2] <= tile_columns &&
                    (reinterpret_cast<u64>(a.y) & 15) == 0;
  barrier_wait(shared_address(&head->weights), 0);
  const auto release = [&](const Ring& at) {
    if (lane == 0) barrier_arrive(at.empty_barrier());
  };
  const auto held = [&] {
    barrier_wait(ring.full_barrier(), ring.parity);
    return __shfl_sync(~0u, *const_cast<volatile int*>(&head->held[ring.slot]), 0);
  };
  u32 turn = 0;  // items alternate between the two warpgroups
  for (;;) {
    const int index = held();
    if (index == no_more) break;
    if (index == second_plane_only || turn % 2 != mine) {
      turn += index != second_plane_only;
      release(ring);
      ring.advance();
      continue;
    }
    const Item item = item_at(tiles, static_cast<u32>(index));
    const u32 count = odd && item.d + 1 < tiles.depth ? 2 : 1;
    const Ring first = ring;
    ++turn;
    ring.advance();
    const Ring second = ring;
    if (count == 2) {
      turn += held() != second_plane_only;
      ring.advance();
    }
#pragma unroll 1
    for (u32 odd_row = 0; odd_row < 2; ++odd_row) {
      Sums sums;
      multiply_item(sums, first.plane(), second.plane(), count, weights, odd_row);
      if (odd_row == 1) {
        release(first);
        if (count == 2) release(second);
      }
      Target target = target_of(a, item, channel, 2 * item.d + odd, wide);
      target.y += odd_row * a.s.output[2];
      if (target.whole) {
        write_item<true>(sums, target, biases, wide);
      } else {
        write_item<false>(sums, target, biases, wide);
      }
    }
  }
}

// The same by the definition, for weights that zeros must not meet.
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
    a.y[(u64(n) * s.out_channels + channel) * positions + position] =
        finish(sum, __ldcg(a.prepared.biases + channel));
  }
}

__device__ inline void double_volume(const Arguments& a) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Head* const head = reinterpret_cast<Head*>(shared);
  const bool odd = blockIdx.x < a.odd_blocks;
  const u32 weight_bytes = (odd ? odd_taps : even_taps) * tap_bytes;
  const u32 weights = shared_address(shared) + head_bytes;
  const u32 weights_barrier = shared_address(&head->weights);
  const Ring ring = {weights + weight_bytes, odd ? u32(ODD_SLOTS) : u32(EVEN_SLOTS),
                     shared_address(head->full), shared_address(head->empty)};
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < most_slots; ++i) {
      barrier_init(ring.full + 8 * i, warpgroup);
      barrier_init(ring.empty + 8 * i, 2 * warpgroup / 32);  // each consumer warp
    }
    barrier_init(weights_barrier, 1);
    barrier_init_done();
  }
  wait_for_kernel_before();
  bool unusual = false;
  for (u32 i = threadIdx.x; i < pack_blocks; i += all_threads) {
    unusual |= __ldcg(a.prepared.unusual + a.of_block * pack_blocks + i) != 0;
  }
  if (__syncthreads_or(unusual)) {
    compute_directly(a);
    return;
  }
  const Tiles tiles(a.s);
  if (__shfl_sync(~0u, threadIdx.x / warpgroup, 0) == 2) {
    release_registers<producer_registers>();
    if (threadIdx.x == 2 * warpgroup) {
      const unsigned char* from = a.prepared.weights + u64(a.of_block) * all_taps * tap_bytes +
                                  (odd ? even_taps * tap_bytes : 0);
      barrier_arrive_expecting(weights_barrier, weight_bytes);
      for (u32 tap = 0; tap < (odd ? odd_taps : even_taps); ++tap) {
        bulk_copy(weights + tap * tap_bytes, from + tap * tap_bytes, tap_bytes, weights_barrier);
      }
    }
    produce(a, tiles, head, ring, odd);
  } else {
    claim_registers<consumer_registers>();
    consume(a, tiles, head, ring, odd, weights);
  }
}
