// Loads and stores of float, float2 and float4 under a cache policy chosen by macro: -DLOAD=load_streaming.
#pragma once

// This and load_no_allocate may take the read-only cache: not for memory that the kernel writes.
template <typename T>
__device__ T load_default(const T* from) {
  return __ldg(from);
}
template <typename T>
__device__ T load_plain(const T* from) {
  return *from;
}
template <typename T>
__device__ T load_streaming(const T* from) {
  return __ldcs(from);
}
template <typename T>
__device__ T load_l2(const T* from) {
  return __ldcg(from);
}
// Read once: does not enter L1.
__device__ inline float load_no_allocate(const float* from) {
  float value;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
}
__device__ inline float2 load_no_allocate(const float2* from) {
  float2 value;
  asm volatile("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.x), "=f"(value.y)
               : "l"(from));
  return value;
}
__device__ inline float4 load_no_allocate(const float4* from) {
  float4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(from));
  return value;
}

template <typename T>
__device__ void store_default(T* to, T value) {
  *to = value;
}
template <typename T>
__device__ void store_streaming(T* to, T value) {
  __stcs(to, value);
}
template <typename T>
__device__ void store_l2(T* to, T value) {
  __stcg(to, value);
}
template <typename T>
__device__ void store_through(T* to, T value) {
  __stwt(to, value);
}
