// The weights in the order in which a block meets them, made anew in every call.
//
// By block of 64 output channels, class (plane and row parity of the output), chunk of 32 input channels and
// visit (source plane and row). What a visit holds, three column taps 1, 2 and 0, is the format's affair.
#pragma once

#include "variants/conv_transpose3d_residual/parity_tiles.cuh"

// Classes have (1 + odd_d) * (1 + odd_h) visits: 1, 2, 2 and 4, so nine in all.
constexpr u32 all_visits = 9;
__device__ constexpr u32 visits_before(u32 odd_d, u32 odd_h) {
  return odd_d * 3 + odd_h * (1 + odd_d);
}

// Of the nine visits, counted through all classes, those of plane d + 1 and those of row h + 1.
constexpr u32 from_next_plane = 0b110010000;
constexpr u32 from_next_row = 0b101000100;

// A block packs one output channel, those beside the problem as zeros. flags[channel] says whether any weight
// of it is infinite, NaN, or so large that rounding could make it infinite.
template <typename Format>
__device__ void pack_weights(u32* packed, u32* flags, const float* w, const Convolution& s) {
  const u32 channel = blockIdx.x;
  const u32 row = channel % block_channels;
  const u32 chunks = (s.in_channels + chunk_channels - 1) / chunk_channels;
  u32* const of_block =
      packed + u64(channel / block_channels) * all_visits * chunks * Format::visit_words;
  bool unusual = false;
  const u32 pairs = chunks * (chunk_channels / 2);
  for (u64 i = threadIdx.x; i < u64(pairs) * 27; i += blockDim.x) {
    const u32 pair = i / 27;
    const u32 tap = i - u64(pair) * 27;
    float values[2];
#pragma unroll
    for (u32 j = 0; j < 2; ++j) {
      const u32 in = 2 * pair + j;
      const bool exists = channel < s.out_channels && in < s.in_channels;
      values[j] = exists ? __ldg(w + (u64(in) * s.out_channels + channel) * 27 + tap) : 0.0f;
      unusual |= !(fabsf(values[j]) <= 0x1p126f);
    }
    // Of each dimension's taps 1 is for even outputs; 2 and 0 for odd ones, from the input and its next.
    const u32 kd = tap / 9;
    const u32 kh = tap / 3 % 3;
    const u32 kw = tap % 3;
    const u32 odd_d = kd != 1;
    const u32 odd_h = kh != 1;
    const u32 visit = (kd == 0) * (1 + odd_h) + (kh == 0);
    const u32 visits = (1 + odd_d) * (1 + odd_h);
    const u32 chunk = 2 * pair / chunk_channels;
    const u64 place = u64(visits_before(odd_d, odd_h)) * chunks + u64(chunk) * visits + visit;
    Format::put_weights(of_block + place * Format::visit_words, kw == 0 ? 2 : kw - 1, row,
                        2 * pair % chunk_channels, values[0], values[1]);
  }
  unusual = __syncthreads_or(unusual);
  if (threadIdx.x == 0) flags[channel] = unusual;
}
