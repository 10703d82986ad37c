// The producing warpgroup of a wgmma block: it takes segments of work, reads their planes of x, splits them and
// fills the ring.
#pragma once

#include "variants/conv_transpose3d_residual/kept_loads.cuh"
#include "variants/conv_transpose3d_residual/wgmma_block.cuh"

__device__ inline float4 load_some(const float* from, u32 count) {
  return make_float4(__ldg(from), count > 1 ? __ldg(from + 1) : 0.0f,
                     count > 2 ? __ldg(from + 2) : 0.0f, count > 3 ? __ldg(from + 3) : 0.0f);
}

// A thread's share of a plane: 4 columns of 2 channels, 16 apart, in each of 5 rows, all in flight at once.
struct Share {
  float4 value[2 * plane_rows];

  // `from` is the first column and row of the first channel; of its rows `first` exist, of the second
  // channel's `second`, and `columns` of its columns. `wide`: whole rows begin at multiples of 16 bytes.
  __device__ void load(const Convolution& s, const float* from, u32 first, u32 second, u32 columns,
                       bool wide) {
    const u64 step = 16 * s.positions;
    const u64 policy = keep_policy();
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      const u32 row = i % plane_rows;
      const float* const at = from + i / plane_rows * step + row * s.input[2];
      const bool exists = row < (i / plane_rows == 0 ? first : second);
      if (wide) {
        value[i] = load_kept(reinterpret_cast<const float4*>(at), exists, policy);
      } else {
        value[i] = exists ? load_some(at, columns) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
    }
  }

  __device__ void store(u32 place) const {
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      // 16 channels further the swizzle is the same.
      const u32 to = place + i % plane_rows * row_bytes + i / plane_rows * 16 * 64;
      const float4& v = value[i];
      const u32 a = rounded_pair(v.x, v.y);
      const u32 b = rounded_pair(v.z, v.w);
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
      if (parts == 1) continue;
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to + row_part_bytes),
                   "r"(rest_pair(v.x, v.y, a)), "r"(rest_pair(v.z, v.w, b))
                   : "memory");
    }
  }
};

// What the first segment needs is brought to L2 while the kernel before still runs, by threads of the producer.
__device__ inline void fetch_first_planes(const Arguments& a, u32 number) {
  const Segment segment = segment_at(a.tiles, number);
  const u32 thread = threadIdx.x - 2 * warpgroup;
  const u32 row = thread % 8;
  if (segment.length == 0 || row >= plane_rows) return;
  const Item item = item_at(a.tiles, segment.first);
  if (item.h0 + row >= a.s.input[1]) return;
  for (u32 plane = 0; plane < segment.planes; ++plane) {
    for (u32 channel = thread / 8; channel < a.s.in_channels; channel += warpgroup / 8) {
      fetch_line(a.x + (u64(item.n) * a.s.in_channels + channel) * a.s.positions +
                 (u64(item.d + plane) * a.s.input[1] + item.h0 + row) * a.s.input[2] + item.w0);
    }
  }
}

// The blocks that take a batch item's first segments bring the next one's x to L2, all at about the same time: in
// bursts reads cost the memory less of its time for writes than one by one. Of two kinds of blocks the alike ones do.
// At the start, while nothing is written yet, the static numbers already reach into further batch items.
__device__ inline void fetch_next_batch(const Arguments& a, const Segment& segment, u32 n) {
  if (segment.of_batch >= a.fetchers || n + 1 >= a.s.n) return;
  const u32 bytes = a.s.in_channels * static_cast<u32>(a.s.positions) * 4;
  const u32 share = bytes / (a.fetchers * warpgroup) & ~15u;
  const u32 mine = segment.of_batch * warpgroup + threadIdx.x - 2 * warpgroup;
  if (share == 0) return;
  fetch_bytes(reinterpret_cast<const unsigned char*>(a.x) + u64(n + 1) * bytes + mine * share,
              share);
}

// `wide` is known when this is compiled, twice: what the other way needs would not fit the registers.
template <bool WIDE>
__device__ inline void produce(const Arguments& a, bool mixed) {
  const Convolution& s = a.s;
  const u32 thread = threadIdx.x - 2 * warpgroup;
  const u32 channel = thread / 32 * 4 + thread % 32 / 8;
  const u32 column = thread % 8 * 4;
  const u32 place = swizzled_64(channel, column * 2);
  u32* const counter = a.prepared.counters + (a.of_block * 2 + mixed) * 32;
  Ring ring;
  ring.parity = 1;  // slots are empty at first
  if (thread == 0) head()->segment[0] = static_cast<int>(first_number(a, mixed));
  bool late = false;
  for (u32 round = 0;; round ^= 1) {
    // A single item is taken when there is room for it, but for a block's first: the later, the less a slow block holds
    // back.
    if (late) {
      barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
      if (thread == 0) head()->segment[round] = static_cast<int>(atomicAdd(counter, 1));
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    const u32 number = static_cast<u32>(*const_cast<volatile int*>(&head()->segment[round]));
    const Segment segment = segment_at(a.tiles, number);
    if (segment.length == 0) break;
    late = segment.halved;
    const Item item = item_at(a.tiles, segment.first);
    if (!mixed) fetch_next_batch(a, segment, item.n);
    const u32 w = item.w0 + column;
    const u32 rows = w < s.input[2] ? min(plane_rows, s.input[1] - item.h0) : 0;
    const u32 first = channel < s.in_channels ? rows : 0;
    const u32 second = channel + 16 < s.in_channels ? rows : 0;
    const float* from = a.x + (u64(item.n) * s.in_channels + channel) * s.positions +
                        (u64(item.d) * s.input[1] + item.h0) * s.input[2] + w;
#pragma unroll 1
    for (u32 i = 0; i < segment.planes; ++i) {
      Share share;
      share.load(s, from, first, second, s.input[2] - w, WIDE);
      // The next segment's number, where nothing waits for it.
      if (i == 0 && !late && thread == 0) {
        head()->segment[round ^ 1] = static_cast<int>(atomicAdd(counter, 1));
      }
      barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
      share.store(Ring::plane_of(ring.slot, mixed) + place);
      if (thread == 0) {
        const u32 begins = segment.first + i * a.tiles.plane_items + segment.halved * halved_item;
        head()->held[ring.slot] = i < segment.length ? static_cast<int>(begins) : second_plane_only;
      }
      publish_to_tensor_cores();
      barrier_arrive(ring.full_barrier());
      ring.advance(mixed);
      from += s.input[1] * s.input[2];
    }
  }
  barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
  if (thread == 0) head()->held[ring.slot] = no_more;
  barrier_arrive(ring.full_barrier());
}
