// The producing warpgroup of a wgmma block: it takes segments of work, reads their planes of x, splits them and
// fills the ring.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_share.cuh"

// What the first segment needs is brought to L2 while the kernel before still runs, by threads of the producer.
__device__ inline void fetch_first_planes(const Arguments& a, u32 number) {
  const Segment segment = segment_at(a.tiles, number);
  const u32 thread = threadIdx.x - 2 * warpgroup;
  const u32 row = thread % 8;
  if (segment.length == 0 || row >= plane_rows) return;
  const Item item = item_at(a.tiles, segment.first);
  if (item.h0 + row >= a.s.input[1]) return;
  for (u32 plane = 0; plane < segment.planes; ++plane) {
    for (u32 channel = thread / 8; channel < channels_of_pass(a.s); channel += warpgroup / 8) {
      fetch_line(a.x + (u64(item.n) * a.s.in_channels + channel) * a.s.positions +
                 (u64(item.d + plane) * a.s.input[1] + item.h0 + row) * a.s.input[2] + item.w0);
    }
  }
}

// The blocks that take a batch item's first segments bring the next one's x, of the pass's channels, to L2, all at about
// the same time: in bursts reads cost the memory less of its time for writes than one by one. Of two kinds of blocks the alike ones do.
// At the start, while nothing is written yet, the static numbers already reach into further batch items.
__device__ inline void fetch_next_batch(const Arguments& a, const Segment& segment, u32 n) {
  if (segment.of_batch >= a.fetchers || n + 1 >= a.s.n) return;
  const u32 bytes = channels_of_pass(a.s) * static_cast<u32>(a.s.positions) * 4;
  const u64 batch_bytes = one_of_several ? a.s.in_channels * a.s.positions * 4 : bytes;
  const u32 share = bytes / (a.fetchers * warpgroup) & ~15u;
  const u32 mine = segment.of_batch * warpgroup + threadIdx.x - 2 * warpgroup;
  if (share == 0) return;
  fetch_bytes(reinterpret_cast<const unsigned char*>(a.x) + u64(n + 1) * batch_bytes + mine * share,
              share);
}

// `wide` is known when this is compiled, twice: what the other way needs would not fit the registers.
template <bool WIDE>
__device__ inline void produce(const Arguments& a, bool mixed) {
  const Convolution& s = a.s;
  u32* const counter = a.prepared.counters + (a.of_block * 2 + mixed) * 32;
  Ring ring;
  ring.parity = 1;  // slots are empty at first
  if (leads()) head()->segment[0] = static_cast<int>(first_number(a, mixed));
  bool late = false;
  for (u32 round = 0;; round ^= 1) {
    // A single item is taken when there is room for it, but for a block's first: the later, the less a slow block holds
    // back.
    if (late) {
      barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
      if (leads()) head()->segment[round] = static_cast<int>(atomicAdd(counter, 1));
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    const u32 number = static_cast<u32>(*const_cast<volatile int*>(&head()->segment[round]));
    const Segment segment = segment_at(a.tiles, number);
    if (segment.length == 0) break;
    late = segment.halved;
    const Item item = item_at(a.tiles, segment.first);
    if (!mixed) fetch_next_batch(a, segment, item.n);
#pragma unroll 1
    for (u32 i = 0; i < segment.planes; ++i) {
      Share share;
      share.load<WIDE>(a, item, i);
      // The next segment's number, where nothing waits for it.
      if (i == 0 && !late && leads()) {
        head()->segment[round ^ 1] = static_cast<int>(atomicAdd(counter, 1));
      }
      barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
#if FUSEBENCH_SCALED
      const float by = share.scaling(ring.slot);
#else
      constexpr float by = 1.0f;
#endif
      share.store(Ring::plane_of(ring.slot, mixed), by);
#if FUSEBENCH_SCALED
      const u32 exponent = exponent_of(ring.slot);
      if (leads()) head()->exponent[ring.slot] = exponent;
#endif
      if (leads()) {
        const u32 begins = segment.first + i * a.tiles.plane_items + segment.halved * halved_item;
        head()->held[ring.slot] = i < segment.length ? static_cast<int>(begins) : second_plane_only;
      }
      publish_to_tensor_cores();
      barrier_arrive(ring.full_barrier());
      ring.advance(mixed);
    }
  }
  barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity);
  if (leads()) head()->held[ring.slot] = no_more;
  barrier_arrive(ring.full_barrier());
}
