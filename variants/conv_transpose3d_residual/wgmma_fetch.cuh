// The fetching thread of a wgmma block: it takes segments of work and has their planes of x copied, as they are, to slots
// of the ring that are empty.
#pragma once

#include "variants/conv_transpose3d_residual/kept_copies.cuh"
#include "variants/conv_transpose3d_residual/wgmma_block.cuh"

// The blocks that take a batch item's first segments bring the next one's x, of the pass's channels, to L2, all at about
// the same time: in bursts reads cost the memory less of its time for writes than one by one. Of two kinds of blocks the alike ones do.
// At the start, while nothing is written yet, the static numbers already reach into further batch items.
__device__ inline void fetch_next_batch(const Arguments& a, const Segment& segment, u32 n) {
  if (segment.of_batch >= a.fetchers || n + 1 >= a.s.n) return;
  const u32 bytes = channels_of_pass(a.s) * static_cast<u32>(a.s.positions) * 4;
  const u64 batch_bytes = one_of_several ? a.s.in_channels * a.s.positions * 4 : bytes;
  const u32 share = bytes / a.fetchers & ~15u;
  const unsigned char* const from = reinterpret_cast<const unsigned char*>(a.x) +
                                    u64(n + 1) * batch_bytes + segment.of_batch * share;
  constexpr u32 most = 16384;
#pragma unroll 1
  for (u32 at = 0; at < share; at += most) fetch_bytes(from + at, min(most, share - at));
}

static_assert(column_step % 4 == 0, "bulk copies begin at multiples of 16 bytes");

// Begins to bring a segment's plane to an empty slot; where x is not mapped it is only announced, for those that split it.
__device__ inline void fetch_plane(const Arguments& a, bool mixed, const Segment& segment,
                                   const Item& item, u32 plane, u32 slot) {
  const u32 raw_barrier = Ring::raw_barrier_of(slot);
  const u32 place = segment.first + plane * a.tiles.plane_items;
  head()->held[slot] =
      plane < segment.length ? place + segment.halved * halved_item : second_plane_only;
  head()->place[slot] = plane == 0 ? place + segment_begins : place;
  if (a.mapped) {
    barrier_arrive_expecting(raw_barrier, plane_bytes);
    copy_tile_kept(Ring::plane_of(slot, mixed), a.x_map, item.w0, 0, item.h0, item.d + plane,
                   item.n, raw_barrier);
  } else {
    barrier_arrive(raw_barrier);
  }
}

// The first segment's planes, while the kernel before still runs; how many. x is there already: that kernel does not write it,
// and is an ordinary launch, so whatever did has ended.
__device__ inline u32 fetch_first_planes(const Arguments& a, bool mixed) {
  const Segment segment = segment_at(a.tiles, first_number(a, mixed));
  const Item item = item_at(a.tiles, segment.first);
  const u32 planes = segment.length == 0 ? 0 : min(segment.planes, block_slots(mixed));
#pragma unroll 1
  for (u32 i = 0; i < planes; ++i) fetch_plane(a, mixed, segment, item, i, i);
  return planes;
}

__device__ inline void fetch_weights(const Arguments& a, bool mixed) {
  const u32 barrier = shared_address(&head()->weights);
  const unsigned char* from = a.prepared.weights + u64(a.of_block) * all_taps * tap_bytes +
                              block_first_row_tap(mixed) * row_tap_bytes;
  const u32 row_taps = block_row_taps(mixed);
  barrier_arrive_expecting(barrier, row_taps * row_tap_bytes);
#pragma unroll 1
  for (u32 i = 0; i < row_taps; ++i) {
    bulk_copy(weights_address() + i * row_tap_bytes, from + i * row_tap_bytes, row_tap_bytes,
              barrier);
  }
}

// All but the first planes.
__device__ inline void fetch(const Arguments& a, bool mixed) {
  u32* const counter = a.prepared.counters + (a.of_block * 2 + mixed) * 32;
  Ring ring;
  ring.parity = 1;  // slots are empty at first
  Ring leaving;     // late_room planes behind
  u32 planes = 0;
  const auto wait_for_slot = [&] { barrier_wait(Ring::empty_barrier_of(ring.slot), ring.parity); };
  for (u32 number = first_number(a, mixed);; number = atomicAdd(counter, 1)) {
    const Segment segment = segment_at(a.tiles, number);
    if (segment.length == 0) break;
    const Item item = item_at(a.tiles, segment.first);
#pragma unroll 1
    for (u32 i = 0; i < segment.planes; ++i) {
      if (i >= block_slots(mixed) || number != first_number(a, mixed)) {
        wait_for_slot();
        fetch_plane(a, mixed, segment, item, i, ring.slot);
      }
      ring.advance(mixed);
      if (++planes > late_room) leaving.advance(mixed);
    }
    // Behind the segment's own planes, which are needed first.
    if (!mixed) fetch_next_batch(a, segment, item.n);
    // A single item is taken when there is hardly anything left to do: the later, the less a slow block holds back.
    if (segment.halved && planes >= late_room) {
      barrier_wait(Ring::empty_barrier_of(leaving.slot), leaving.parity);
    }
  }
  wait_for_slot();
  head()->held[ring.slot] = no_more;
  barrier_arrive(Ring::raw_barrier_of(ring.slot));
}
