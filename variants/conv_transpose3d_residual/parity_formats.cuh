// How operands go through the tensor cores: each format says how a value stands in shared memory, which
// products make up one of float32, and in which order the weights are read.
//
// A step is what one set of fragments multiplies: a weight fragment and an input fragment of two parts each.
// The parts are high and low halves, or, where nothing is split, two groups of eight channels.
#pragma once

#include "variants/conv_transpose3d_residual/parity_tiles.cuh"
#include "variants/conv_transpose3d_residual/tensor_core.cuh"

// 32-bit words of one part of a 16-row fragment: four for each lane.
constexpr u32 fragment_words = 128;
// Weights lie by step, column tap and 16 channels.
constexpr u32 block_fragments = block_channels / 16;
constexpr u32 tap_words = block_fragments * 2 * fragment_words;
constexpr u32 step_words = 3 * tap_words;
__device__ inline u32* fragment_of(u32* visit, u32 step, u32 tap, u32 row) {
  return visit + step * step_words + tap * tap_words + row / 16 * (2 * fragment_words);
}

// x = high + low, both bfloat16: high high + high low + low high, smallest first.
struct Bf16x3 {
  static constexpr u32 value_bytes = 4;  // of one value, in shared memory and among the weights
  static constexpr u32 steps = 2;        // of a chunk of 32 channels
  static constexpr u32 visit_words = steps * step_words;
  static constexpr u32 step_bytes = 32;           // from one step's inputs to the next's
  static constexpr u32 part_bytes = 64;           // from an input's first part to its second
  static constexpr bool always_promoted = false;  // see Multiplier::multiply
  static constexpr u32 products = 3;
  __device__ static constexpr u32 weight_part(u32 product) { return product == 0; }
  __device__ static constexpr u32 input_part(u32 product) { return product == 1; }
  // After which product a part of the weights is not needed any more.
  __device__ static constexpr u32 last_product(u32 weight_part) { return weight_part == 0 ? 2 : 0; }

  template <bool FROM_ZERO>
  __device__ static void multiply(float (&sum)[4], const uint4& a, u32 b0, u32 b1) {
    multiply_bf16<FROM_ZERO>(sum, a, b0, b1);
  }
  __device__ static void split(float p, float q, u32& high, u32& low) {
    high = to_bf16(p, q);
    low = to_bf16(p - __uint_as_float(high << 16), q - __uint_as_float(high & 0xFFFF0000u));
  }
  // Eight channels of a position, whose 32 begin at `to`.
  __device__ static void put_inputs(unsigned char* to, u32 octet, const float (&v)[8]) {
    uint4 high, low;
    split(v[0], v[1], high.x, low.x);
    split(v[2], v[3], high.y, low.y);
    split(v[4], v[5], high.z, low.z);
    split(v[6], v[7], high.w, low.w);
    *reinterpret_cast<uint4*>(to + octet * 16) = high;
    *reinterpret_cast<uint4*>(to + part_bytes + octet * 16) = low;
  }
  // The weights of one of 64 rows in channels k and k + 1, k even, of one of the three column taps.
  __device__ static void put_weights(u32* visit, u32 tap, u32 row, u32 k, float p, float q) {
    const u32 lane = row % 8 * 4 + k % 8 / 2;
    u32* const to = fragment_of(visit, k / 16, tap, row) + lane * 4 + k % 16 / 8 * 2 + row % 16 / 8;
    split(p, q, to[0], to[fragment_words]);
  }
};

// The same of TF32, whose 11 + 11 bits nearly are float32's 24.
struct Tf32x3 {
  static constexpr u32 value_bytes = 8;
  static constexpr u32 steps = 4;
  static constexpr u32 visit_words = steps * step_words;
  static constexpr u32 step_bytes = 32;
  static constexpr u32 part_bytes = 128;
  static constexpr bool always_promoted = true;
  static constexpr u32 products = 3;
  __device__ static constexpr u32 weight_part(u32 product) { return product == 0; }
  __device__ static constexpr u32 input_part(u32 product) { return product == 1; }
  // After which product a part of the weights is not needed any more.
  __device__ static constexpr u32 last_product(u32 weight_part) { return weight_part == 0 ? 2 : 0; }

  template <bool FROM_ZERO>
  __device__ static void multiply(float (&sum)[4], const uint4& a, u32 b0, u32 b1) {
    multiply_tf32<FROM_ZERO>(sum, a, b0, b1);
  }
  // The largest floats would round to infinity: these are truncated.
  __device__ static void split(float v, u32& high, u32& low) {
    high = to_tf32(v);
    if ((high & 0x7FFFFFFFu) == 0x7F800000u) high = __float_as_uint(v) & 0xFFFFE000u;
    low = to_tf32(v - __uint_as_float(high));
  }
  __device__ static void put_inputs(unsigned char* to, u32 octet, const float (&v)[8]) {
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      uint4 high, low;
      split(v[4 * i], high.x, low.x);
      split(v[4 * i + 1], high.y, low.y);
      split(v[4 * i + 2], high.z, low.z);
      split(v[4 * i + 3], high.w, low.w);
      *reinterpret_cast<uint4*>(to + octet * 32 + i * 16) = high;
      *reinterpret_cast<uint4*>(to + part_bytes + octet * 32 + i * 16) = low;
    }
  }
  __device__ static void put_weights(u32* visit, u32 tap, u32 row, u32 k, float p, float q) {
    const u32 lane = row % 8 * 4 + k % 4;
    u32* const to = fragment_of(visit, k / 8, tap, row) + lane * 4 + k % 8 / 4 * 2 + row % 16 / 8;
    split(p, to[0], to[fragment_words]);
    split(q, to[4], to[fragment_words + 4]);
  }
};

// TF32 alone.
struct Tf32 {
  static constexpr u32 value_bytes = 4;
  static constexpr u32 steps = 2;
  static constexpr u32 visit_words = steps * step_words;
  static constexpr u32 step_bytes = 64;
  static constexpr u32 part_bytes = 32;
  static constexpr bool always_promoted = false;
  static constexpr u32 products = 2;
  __device__ static constexpr u32 weight_part(u32 product) { return product; }
  __device__ static constexpr u32 input_part(u32 product) { return product; }
  __device__ static constexpr u32 last_product(u32 weight_part) { return weight_part; }

  template <bool FROM_ZERO>
  __device__ static void multiply(float (&sum)[4], const uint4& a, u32 b0, u32 b1) {
    multiply_tf32<FROM_ZERO>(sum, a, b0, b1);
  }
  __device__ static void put_inputs(unsigned char* to, u32 octet, const float (&v)[8]) {
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
      *reinterpret_cast<uint4*>(to + octet * 32 + i * 16) = make_uint4(
          to_tf32(v[4 * i]), to_tf32(v[4 * i + 1]), to_tf32(v[4 * i + 2]), to_tf32(v[4 * i + 3]));
    }
  }
  __device__ static void put_weights(u32* visit, u32 tap, u32 row, u32 k, float p, float q) {
    const u32 lane = row % 8 * 4 + k % 4;
    u32* const to = fragment_of(visit, k / 16, tap, row) + k % 16 / 8 * fragment_words + lane * 4 +
                    k % 8 / 4 * 2 + row % 16 / 8;
    to[0] = to_tf32(p);
    to[4] = to_tf32(q);
  }
};
