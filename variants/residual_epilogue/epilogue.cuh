// What the CUDA kernels of residual_epilogue share: the formula, and finding an element's bias.
#pragma once

#include "harness/device/cuda/kernels/cache_policy.cuh"
#include "harness/device/cuda/kernels/fast_divisor.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

// The host's KernelExtents.
struct Extents {
  FastDivisor spatial;   // elements of a row, which share a bias
  FastDivisor channels;  // row r has channel r % channels
  u64 elements;
};

// ((c + b) + c) * c + c, each step rounded: the intrinsics are never fused.
__device__ inline float exact_order(float c, float b) {
  return __fadd_rn(__fmul_rn(__fadd_rn(__fadd_rn(c, b), c), c), c);
}

__device__ inline float bias_of(const float* b, const Extents& extents, u64 element) {
  return __ldg(b + extents.channels.remainder(extents.spatial.quotient(element)));
}

// The biases of TILE consecutive elements: two divisions for the tile instead of two an element. A
// tile no longer than a row touches at most two rows; longer ones fall back on dividing.
template <u32 TILE>
struct TileBias {
  __device__ TileBias(const float* b, const Extents& extents, u64 first)
      : b_(b), extents_(extents) {
    const u64 row = extents.spatial.quotient(first);
    const u64 channel = extents.channels.remainder(row);
    border_ = (row + 1) * extents.spatial.divisor;
    here_ = __ldg(b + channel);
    next_ = __ldg(b + (channel + 1 == extents.channels.divisor ? 0 : channel + 1));
  }
  __device__ float at(u64 element) const {
    if (extents_.spatial.divisor < TILE) return bias_of(b_, extents_, element);
    return element < border_ ? here_ : next_;
  }

 private:
  const float* b_;
  const Extents& extents_;
  u64 border_;
  float here_;
  float next_;
};

__device__ inline bool aligned(const void* a, const void* b, u32 bytes) {
  return ((reinterpret_cast<u64>(a) | reinterpret_cast<u64>(b)) & (bytes - 1)) == 0;
}

__device__ inline float apply(float c, const auto& bias, u64 element) {
  return exact_order(c, bias.at(element));
}
__device__ inline float2 apply(float2 c, const auto& bias, u64 element) {
  return make_float2(exact_order(c.x, bias.at(element)), exact_order(c.y, bias.at(element + 1)));
}
__device__ inline float4 apply(float4 c, const auto& bias, u64 element) {
  return make_float4(exact_order(c.x, bias.at(element)), exact_order(c.y, bias.at(element + 1)),
                     exact_order(c.z, bias.at(element + 2)),
                     exact_order(c.w, bias.at(element + 3)));
}

// Any alignment, any tail: elements [first, first + tile) one at a time by the whole block.
__device__ inline void scalar_tile(float* y, const float* c, const float* b, const Extents& extents,
                                   u64 first, u32 tile) {
  for (u32 i = threadIdx.x; i < tile && first + i < extents.elements; i += blockDim.x) {
    y[first + i] = exact_order(c[first + i], bias_of(b, extents, first + i));
  }
}
