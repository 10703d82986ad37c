// So much of CUDA C++ as the wgmma kernels are written in, for a host's compiler, which includes it before them.
#pragma once

#include <math.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "tests/emulation/host_block.hpp"

#define __device__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ thread_local  // a block is an operating-system thread
#define __align__(n) __attribute__((aligned(n)))

#define threadIdx fusebench::emulation::thread_index
#define blockIdx fusebench::emulation::block_index
#define gridDim fusebench::emulation::grid_extent
#define shared fusebench_shared_memory

struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline unsigned min(unsigned a, unsigned b) { return std::min(a, b); }
inline unsigned max(unsigned a, unsigned b) { return std::max(a, b); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

template <typename T>
T __ldg(const T* from) {
  return *from;
}
template <typename T>
T __ldcg(const T* from) {
  return *from;
}
template <typename T>
T __ldcs(const T* from) {
  return *from;
}
template <typename T>
void __stcg(T* to, T value) {
  *to = value;
}
template <typename T>
void __stcs(T* to, T value) {
  *to = value;
}
template <typename T>
void __stwt(T* to, T value) {
  *to = value;
}

// Of global memory too, which blocks share.
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
inline unsigned atomicSub(unsigned* at, unsigned value) {
  return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);
}
inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned desired) {
  (void)__atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
  return expected;
}
// Of shared memory alone.
inline void atomicMin(unsigned* at, unsigned value) { *at = std::min(*at, value); }
inline void atomicMax(unsigned* at, unsigned value) { *at = std::max(*at, value); }

namespace fusebench::emulation {

inline const auto& all_lanes(const char* what, unsigned mask, std::uint64_t word) {
  if (mask != ~0U) HostBlock::current().fail("a mask of less than all lanes");
  return HostBlock::current().exchange(what, word);
}

}  // namespace fusebench::emulation

template <typename T>
T __shfl_sync(unsigned mask, T value, unsigned lane) {
  static_assert(sizeof(T) == 4);
  const auto bits = std::bit_cast<unsigned>(value);
  const auto all = fusebench::emulation::all_lanes("__shfl_sync", mask, bits);
  return std::bit_cast<T>(static_cast<unsigned>(all[lane % 32]));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  const auto all = fusebench::emulation::all_lanes("__reduce_max_sync", mask, value);
  return static_cast<unsigned>(*std::max_element(all.begin(), all.end()));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  const auto all = fusebench::emulation::all_lanes("__reduce_min_sync", mask, value);
  return static_cast<unsigned>(*std::min_element(all.begin(), all.end()));
}
inline void __syncwarp() { (void)fusebench::emulation::all_lanes("__syncwarp", ~0U, 0); }

inline bool __syncthreads_or(int here) {
  auto& block = fusebench::emulation::HostBlock::current();
  return block.named_barrier(0, block.threads(), here != 0);
}
inline void __syncthreads() { (void)__syncthreads_or(0); }
