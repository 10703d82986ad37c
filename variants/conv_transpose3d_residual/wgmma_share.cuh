// What one producer thread has of a plane of x: from global memory to registers, to the ring.
#pragma once

#include "variants/conv_transpose3d_residual/kept_loads.cuh"
#include "variants/conv_transpose3d_residual/wgmma_block.cuh"

__device__ inline float4 load_some(const float* from, u32 count) {
  return make_float4(__ldg(from), count > 1 ? __ldg(from + 1) : 0.0f,
                     count > 2 ? __ldg(from + 2) : 0.0f, count > 3 ? __ldg(from + 3) : 0.0f);
}

__device__ inline bool leads() { return thread_now() == 2 * warpgroup; }

// 4 columns of a channel in each of 5 rows, and again 16 channels further, or, of TF32, whose stores would else all meet
// in few banks, 16 columns further. All in flight at once.
struct Share {
  float4 value[2 * plane_rows];

  struct Place {
    u32 channel, column;
  };
  __device__ static Place place_of_thread() {
    const u32 thread = thread_now() - 2 * warpgroup;
#if FUSEBENCH_TF32
    return {thread / 4, thread % 4 * 4};
#else
    return {thread / 32 * 4 + thread % 32 / 8, thread % 8 * 4};
#endif
  }

  // Of the plane so many after the item's. WIDE: whole rows begin at multiples of 16 bytes. Where it is is found anew
  // for each plane: nothing more than the share fits the registers.
  template <bool WIDE>
  __device__ void load(const Arguments& a, const Item& item, u32 plane) {
    const Convolution& s = a.s;
    const auto [channel, column] = place_of_thread();
    const u32 w = item.w0 + column;
    const u32 rows = min(plane_rows, s.input[1] - item.h0);
    constexpr u32 channels_on = FUSEBENCH_TF32 ? 0 : 16;
    constexpr u32 columns_on = FUSEBENCH_TF32 ? 16 : 0;
    const u32 first = channel < channels_of_pass(s) && w < s.input[2] ? rows : 0;
    const u32 second =
        channel + channels_on < channels_of_pass(s) && w + columns_on < s.input[2] ? rows : 0;
    const float* from = a.x + (u64(item.n) * s.in_channels + channel) * s.positions +
                        (u64(item.d + plane) * s.input[1] + item.h0) * s.input[2] + w;
    const u64 step = channels_on * s.positions + columns_on;
    const u64 policy = keep_policy();
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      const u32 half = i / plane_rows;
      const u32 row = i % plane_rows;
      const float* const at = from + half * step + row * s.input[2];
      const bool exists = row < (half == 0 ? first : second);
      if (WIDE) {
        value[i] = load_kept(reinterpret_cast<const float4*>(at), exists, policy);
      } else {
        value[i] = exists ? load_some(at, s.input[2] - w - half * columns_on)
                          : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
    }
  }

#if FUSEBENCH_SCALED
  // Notes the magnitudes of the whole plane; what it must be multiplied by. All of the producer's threads, which meet
  // here.
  __device__ float scaling(u32 slot) const {
    Magnitudes mine;
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      mine.meet(value[i].x);
      mine.meet(value[i].y);
      mine.meet(value[i].z);
      mine.meet(value[i].w);
    }
    const Magnitudes of_warp = mine.of_warp();
    const u32 thread = thread_now();
    if (thread % 32 == 0) {
      head()->largest[slot][thread % warpgroup / 32] = of_warp.largest;
      head()->smallest_less_1[slot][thread % warpgroup / 32] = of_warp.smallest_less_1;
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    return Magnitudes{largest_of(slot)}.scaling();
  }
#endif

  // To a plane of the ring, multiplied by what scaling() said.
  __device__ void store(u32 plane, float by) const {
    const auto [channel, column] = place_of_thread();
#if FUSEBENCH_TF32
    // 16 positions further the swizzle is the same; of four that follow each other it differs in two bits.
    const u32 place = plane + swizzled_128(column, channel * 4);
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      const u32 to = i % plane_rows * row_bytes + i / plane_rows * 16 * 128;
      const float(&v)[4] = reinterpret_cast<const float(&)[4]>(value[i]);
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"((place ^ j * 16) + j * 128 + to),
                     "r"(to_tf32(v[j]))
                     : "memory");
      }
    }
#else
    const u32 place = plane + swizzled_64(channel, column * 2);
#pragma unroll
    for (u32 i = 0; i < 2 * plane_rows; ++i) {
      // 16 channels further the swizzle is the same.
      const u32 to = place + i % plane_rows * row_bytes + i / plane_rows * 16 * 64;
      float4 v = value[i];
      if (FUSEBENCH_SCALED) {
        // One after the other: products of all would not fit the registers.
        __syncwarp();
        v = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
      }
      const u32 a = rounded_pair(v.x, v.y);
      const u32 b = rounded_pair(v.z, v.w);
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
      if (parts == 1) continue;
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to + row_part_bytes),
                   "r"(rest_pair(v.x, v.y, a)), "r"(rest_pair(v.z, v.w, b))
                   : "memory");
    }
#endif
  }
};
