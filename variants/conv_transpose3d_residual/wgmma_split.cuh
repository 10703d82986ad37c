// The splitting warps of a wgmma block: from planes of x to what tensor cores take, where they lie, each element rounded
// or in two halves.
#pragma once

#include "variants/conv_transpose3d_residual/wgmma_fetch.cuh"

constexpr u32 splitters_barrier = 1;

#if FUSEBENCH_TF32
// Four positions of a channel, which lie 128 bytes apart.
__device__ inline void store_transposed(u32 to, float4 v) {
  const float(&values)[4] = reinterpret_cast<const float(&)[4]>(v);
#pragma unroll
  for (u32 j = 0; j < 4; ++j) {
    store_shared((to ^ j * 16) + j * 128, to_tf32(values[j]));
  }
}
#endif

// What a raw plane has of 8 channels in a row, from x: where x is no tensor that bulk copies take, or once more. By a warp.
__device__ inline void bring_unit(const Arguments& a, u32 place, u32 unit, u32 to) {
  const Convolution& s = a.s;
  const Item item = item_at(a.tiles, place);
  const u32 row = item.h0 + unit / 4;
  const u32 column = thread_now() % 32;
  const u32 in = unit % 4 * 8;
  const float* from = a.x + (u64(item.n) * s.in_channels + in) * s.positions +
                      (u64(item.d) * s.input[1] + row) * s.input[2] + item.w0 + column;
  const u32 channels = row < s.input[1] && item.w0 + column < s.input[2] ? channels_of_pass(s) : 0;
  // As many on their way at once as there are registers for: each waits behind the stores of y.
  constexpr u32 together = FUSEBENCH_SCALED ? 2 : 8;
#pragma unroll 1
  for (u32 i = 0; i < 8; i += together) {
    float values[together];
#pragma unroll
    for (u32 j = 0; j < together; ++j, from += s.positions) {
      values[j] = in + i + j < channels ? __ldg(from) : 0.0f;
    }
#pragma unroll
    for (u32 j = 0; j < together; ++j) {
      store_shared(to + swizzled_128(i + j, column * 4), __float_as_uint(values[j]));
    }
  }
  __syncwarp();
}

// A warp does 8 channels of a row at a time, a thread 8 columns of one of them. What a store overwrites must have been
// loaded: the 8 channels' 1024 bytes hold them first as they are, then split, 512 bytes of high halves and 512 of low ones.
// Of TF32 that is so of whole rows, which are transposed. `raw`: the slot has the plane as it is in x. `scale`: what becomes
// of four columns before they are rounded.
template <typename Scale>
__device__ inline void split_plane(const Arguments& a, u32 slot, u32 plane, bool raw, Scale scale) {
  const u32 thread = thread_now() - first_splitter;
  const u32 warp = thread / 32;
#if FUSEBENCH_TF32
  // The two times 4 columns are 16 apart, or else stores would all meet in few banks.
  const u32 channel = thread / 4;
  const u32 column = thread % 4 * 4;
  constexpr u32 second_on = 16;
  u32 from = plane + swizzled_128(channel, column * 4);
  u32 to = plane + swizzled_128(column, channel * 4);
#else
  const u32 channel = thread % 8;  // of the 8
  const u32 column = thread % 32 / 8 * 8;
  constexpr u32 second_on = 4;
  u32 from = plane + warp * channels_8_bytes + swizzled_128(channel, column * 4);
  u32 to = plane + warp * channels_8_bytes + swizzled_64(channel, column * 2);
#endif
  constexpr u32 units = plane_rows * tile_channels / 8;
  constexpr u32 warps = splitters / 32;
#pragma unroll 1
  for (u32 unit = warp; unit < units; unit += warps) {
    if (!raw) {
      bring_unit(a, *const_cast<volatile u32*>(&head()->place[slot]) & ~segment_begins, unit,
                 plane + unit * channels_8_bytes);
    }
    float4 first = load_shared(from);
    float4 second = load_shared(from ^ second_on * 4);
#if FUSEBENCH_TF32
    named_barrier_sync<splitters>(splitters_barrier);
    // 16 positions further the swizzle is the same; of four that follow each other it differs in two bits.
    store_transposed(to, first);
    store_transposed(to + second_on * 128, second);
#else
    first = scale(first);
    second = scale(second);
    const u32 high[4] = {rounded_pair(first.x, first.y), rounded_pair(first.z, first.w),
                         rounded_pair(second.x, second.y), rounded_pair(second.z, second.w)};
    __syncwarp();
    store_shared(to, high[0], high[1], high[2], high[3]);
    if (parts == 2) {
      store_shared(to + row_part_bytes, rest_pair(first.x, first.y, high[0]),
                   rest_pair(first.z, first.w, high[1]), rest_pair(second.x, second.y, high[2]),
                   rest_pair(second.z, second.w, high[3]));
    }
#endif
    from += warps * channels_8_bytes;
    to += warps * channels_8_bytes;
  }
}

#if FUSEBENCH_SCALED
// The exponent field for a plane of which each splitting thread has met some magnitudes; or unusable.
__device__ inline u32 exponent_for(const Magnitudes& mine) {
  const Magnitudes of_warp = mine.of_warp();
  const u32 thread = thread_now() - first_splitter;
  if (thread % 32 == 0) head()->met[thread / 32] = of_warp;
  named_barrier_sync<splitters>(splitters_barrier);
  Magnitudes all;
#pragma unroll
  for (u32 i = 0; i < splitters / 32; ++i) all.meet(head()->met[i]);
  return all.representable() && usable_exponent(all.unscaling_exponent()) ? all.unscaling_exponent()
                                                                          : unusable;
}

// For magnitudes below 8, as those of normally distributed x are.
__device__ inline u32 first_guess() {
  return usable_exponent(first_exponent) ? first_exponent : unusable;
}
#endif

__device__ inline void split(const Arguments& a) {
  Ring ring;
#if FUSEBENCH_SCALED
  u32 before = unusable;  // the exponent of the plane before
#endif
  for (;;) {
    barrier_wait(Ring::raw_barrier_of(ring.slot), ring.parity);
    if (*const_cast<volatile u32*>(&head()->held[ring.slot]) == no_more) break;
    const u32 plane = Ring::plane_of(ring.slot, mixed_now(a));
#if FUSEBENCH_SCALED
    // A plane is scaled like the one before, and split once more where it does not bear that: its own exponent is known only
    // when all of it has been met, and until then all would have to wait. Not across segments: a block takes whichever is next,
    // and y's bits would depend on that.
    const bool begins = *const_cast<volatile u32*>(&head()->place[ring.slot]) & segment_begins;
    u32 exponent = before != unusable && !begins ? before : first_guess();
    for (bool raw = a.mapped != 0;; raw = false) {
      const float by = power_of_two(254u - exponent);
      Magnitudes met;
      split_plane(a, ring.slot, plane, raw, [&](float4 v) {
        met.meet_all(v);
        return make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
      });
      if (!named_barrier_or<splitters>(splitters_barrier,
                                       exponent == unusable || !met.held_with(exponent)))
        break;
      exponent = exponent_for(met);
      if (exponent == unusable) break;
    }
    if (exponent != before && thread_now() == first_splitter) {
      head()->exponent[ring.slot] = exponent;
      head()->held[ring.slot] |= scale_changed;
    }
    before = exponent;
#else
    split_plane(a, ring.slot, plane, a.mapped != 0, [](float4 v) { return v; });
#endif
    publish_to_tensor_cores();
    barrier_arrive(ring.full_barrier());
    ring.advance(mixed_now(a));
  }
  barrier_arrive(ring.full_barrier());
}
